"""Settings of the passkeys module."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Literal
from uuid import UUID

from authservice.kernel import secret
from authservice.kernel.origins import normal
from authservice.kernel.rules import ReadableFile, Rule, between
from authservice.kernel.settings import section

ANDROID = "android:apk-key-hash:"
_DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_SHA256 = 32
# Base64url of 1,023 bytes, the longest id that WebAuthn allows.
ID_LENGTH = 1364
# Base64url of 1,024 bytes: an RSA key of 4,096 bits has 530.
KEY_LENGTH = 1366


def is_domain(text: str) -> bool:
    """Whether this is a domain in the form that browsers compare: lower case, without a port."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return len(text) <= 253 and _DOMAIN.fullmatch(text) is not None
    return False


def _is_origin(text: str) -> bool:
    if not text.startswith(ANDROID):
        return bool(text) and normal(text) == text
    try:
        return len(secret.unb64(text.removeprefix(ANDROID))) == _SHA256
    except secret.Unreadable:
        return False


def _is_aaguid(text: str) -> bool:
    # A `Rule` takes the `ValueError` of `UUID` as a refusal too.
    return str(UUID(text)) == text


_Domain = Annotated[
    str,
    Rule(
        "a domain in lower case",
        lambda text: not text or is_domain(text),
        "Use the domain that users know, without scheme and port, such as 'example.com'. Passkeys"
        " are bound to it: after a change all of them are lost.",
    ),
]
_Origin = Annotated[
    str,
    Rule(
        "an origin",
        _is_origin,
        "Use scheme and host as browsers send them, such as 'https://app.example.com', with the"
        " port only if it is not the default. An Android app is"
        " 'android:apk-key-hash:' and the SHA-256 of its signing certificate in base64url.",
    ),
]
_Aaguid = Annotated[
    str,
    Rule(
        "an AAGUID",
        _is_aaguid,
        "Use its form with hyphens in lower case, such as '2fc0579f-8113-47ea-b116-bb5a8db9202a'.",
    ),
]
_TIMEOUT = between(timedelta(seconds=30), timedelta(minutes=10), "30 seconds to 10 minutes")


@dataclass(frozen=True, kw_only=True)
class Passkeys:
    """`AUTHSERVICE["PASSKEYS"]`."""

    rp_id: _Domain = ""
    """The domain that passkeys are bound to, such as `example.com`; they work there and on its
    subdomains. If empty, the host of `FRONTEND.URL` or `API_URL`; with `DEBUG`, `localhost`."""
    rp_name: str = ""
    """Name of the service in the dialogues of browsers. If empty, the domain."""
    origins: tuple[_Origin, ...] = ()
    """Origins of the pages and apps that may use passkeys. If empty, those of `FRONTEND.URL` and
    `API_URL`. An Android app is `android:apk-key-hash:…`."""
    timeout: Annotated[timedelta, _TIMEOUT] = timedelta(minutes=5)
    """How long a browser waits for its user, and how long the options of a request are valid."""
    attestation: Literal["none", "direct"] = "none"
    """`"direct"` accepts only models of security keys that `AAGUIDS` lists, and checks by
    `METADATA_FILE` that a key is one of them. Passkeys of phones and password managers are refused
    then."""
    aaguids: tuple[_Aaguid, ...] = ()
    """Models of security keys that are accepted with `ATTESTATION = "direct"`."""
    metadata_file: ReadableFile = ""
    """File of the FIDO Metadata Service (the MDS3 BLOB), for `ATTESTATION = "direct"`."""
    metadata_root: ReadableFile = ""
    """Certificate in PEM that the metadata are signed under. If empty, that of the FIDO Alliance's
    service: GlobalSign Root CA - R3."""


conf = section("PASSKEYS", Passkeys)
