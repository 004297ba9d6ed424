"""System checks of the passkeys module: the domain, its origins, and attestation."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, register
from django.urls import is_valid_path

from authservice.kernel.checks import declare, message
from authservice.kernel.settings import complaints
from authservice.passkeys import attestation, relying_party
from authservice.passkeys.conf import ANDROID, conf

declare(
    {
        "authservice.E270": (
            "'authservice.passkeys' is installed without a domain that passkeys are bound to:"
            " PASSKEYS.RP_ID is empty, and neither FRONTEND.URL nor AUTHSERVICE['API_URL'] has the"
            " domain of a public service.",
            "Set PASSKEYS.RP_ID to the domain that users know, such as 'example.com'.",
        ),
        "authservice.E271": (
            "No origin may use the passkeys: PASSKEYS.ORIGINS (if it is empty: FRONTEND.URL and"
            " AUTHSERVICE['API_URL']) has no page on the domain PASSKEYS.RP_ID or below it, and no"
            " app.",
            "Add the origin of the front end to PASSKEYS.ORIGINS, or set PASSKEYS.RP_ID to its"
            " domain.",
        ),
        "authservice.W272": (
            "An entry of PASSKEYS.ORIGINS is not on the domain PASSKEYS.RP_ID, and this project"
            " does not serve /.well-known/webauthn: browsers refuse passkeys there.",
            "Include 'authservice.passkeys.root_urls' at the root of the project, on the host that"
            " is PASSKEYS.RP_ID. If another server answers there, add 'authservice.W272' to"
            " SILENCED_SYSTEM_CHECKS.",
        ),
        "authservice.W273": (
            "An entry of PASSKEYS.ORIGINS is an http URL: browsers offer passkeys only to https"
            " pages.",
            "Serve the pages over https, and use their https addresses.",
        ),
        "authservice.E274": (
            "PASSKEYS.ATTESTATION is 'direct' without PASSKEYS.AAGUIDS or PASSKEYS.METADATA_FILE,"
            " so every passkey is refused.",
            "List the AAGUIDs of the accepted security keys, and name the metadata file of the FIDO"
            " Alliance. Or set PASSKEYS.ATTESTATION to 'none'.",
        ),
        "authservice.E275": (
            "PASSKEYS.ATTESTATION is 'direct' and the package fido2 is missing, so every passkey is"
            " refused.",
            "pip install 'authservice[passkeys-attestation]'",
        ),
        "authservice.E276": (
            "PASSKEYS.METADATA_FILE cannot be used: it is not readable, or it is not signed by the"
            " service of the FIDO Alliance, so every passkey is refused.",
            "Download the file again from https://mds3.fidoalliance.org/. If another service signs"
            " it, name its certificate in PASSKEYS.METADATA_ROOT.",
        ),
    }
)


def connect() -> None:
    register(check_passkeys, "authservice")


def check_passkeys(**_: Any) -> Iterator[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    if not apps.is_installed("authservice.passkeys") or list(complaints()):
        return
    if not relying_party.domain():
        yield message("authservice.E270")
        return
    origins = relying_party.origins()
    pages = [origin for origin in origins if not origin.startswith(ANDROID)]
    allows_others = len(pages) < len(origins) or relying_party.is_local()
    fits_none = not allows_others and not any(map(relying_party.is_within, pages))
    fits_all = all(map(relying_party.is_within, pages))
    if fits_none:
        yield message("authservice.E271")
    elif not fits_all and not is_valid_path(f"/{relying_party.WELL_KNOWN}"):
        yield message("authservice.W272")
    # Without `ORIGINS`, the pages are those of the service and of the front end: a check of core
    # reports their http addresses.
    if conf.origins and not fits_none and not all(map(relying_party.is_secure, pages)):
        yield message("authservice.W273")
    if conf.attestation != "direct":
        return
    if not conf.aaguids or not conf.metadata_file:
        yield message("authservice.E274")
    elif find_spec("fido2") is None:
        yield message("authservice.E275")
    elif not attestation.is_usable(conf.metadata_file, conf.metadata_root):
        yield message("authservice.E276")
