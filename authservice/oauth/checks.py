"""System checks of the oauth module: addresses, login module, profile fields and providers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Tags, register

from authservice.core.conf import core
from authservice.core.recovery import earlier_proofs
from authservice.core.users import user_fields
from authservice.core.users.user_model import host
from authservice.kernel.checks import (
    declare,
    message,
)
from authservice.kernel.origins import parts_of
from authservice.kernel.sections import root, secure
from authservice.kernel.settings import complaints
from authservice.oauth import profiles, provider_settings
from authservice.oauth.conf import conf

declare(
    {
        "authservice.E203": (
            "OAUTH.PROFILE_FIELDS names a field that the user model does not have or that belongs"
            " to this service, or an unknown part of the profile.",
            "Map fields of your own to 'name', 'first_name', 'last_name' or 'avatar'.",
        ),
        "authservice.W205": (
            "OAUTH.DEFAULT_REDIRECT_URL, OAUTH.ERROR_REDIRECT_URL or an entry of OAUTH.RETURN_URLS"
            " is an http URL: an attacker on the network can add a script to the page that"
            " receives the tokens.",
            "Serve the front end over https, and use its https address.",
        ),
        "authservice.E206": (
            "OAUTH.USE_SESSION_AUTH is true without the session module: logins with a provider"
            " create JWTs of the stateless module.",
            "Install 'authservice.session', or remove the setting.",
        ),
        "authservice.W206": (
            "OAUTH.USE_SESSION_AUTH is false with the session module: logins with a provider"
            " create sessions all the same.",
            "Set OAUTH.USE_SESSION_AUTH to True, or remove the setting.",
        ),
        "authservice.W208": (
            "OAUTH.ALLOW_SIGNUP creates accounts without a phone number, but"
            " CORE.REQUIRE_PHONE_VERIFICATION refuses their login.",
            "Set one of the two to False.",
        ),
        "authservice.W261": (
            "Users from before the service was installed have a password and an address that is"
            " not proven: their first login with a provider that verifies the address removes the"
            " password.",
            "Name the addresses that the project has verified: manage.py authservice_sync_accounts"
            " --verified (see 'Verified addresses' on the page 'Your users' of the documentation)."
            " If an address is unproven because several users share it, change the address of all"
            " but one, then run this again. If the project has not verified the others, keep the"
            " removal, which protects their owners, and add 'authservice.W261' to"
            " SILENCED_SYSTEM_CHECKS. Or set CORE.WIPE_UNPROVEN to False.",
        ),
    }
)
declare(
    {
        "authservice.E200": (
            "OAUTH.PROVIDERS is set and AUTHSERVICE['API_URL'] is not, so no callback address can"
            " be made.",
            "Set it to the public origin of the service, such as 'https://api.example.com'.",
        ),
    },
    area="providers",
)


def connect() -> None:
    register(check_oauth, "authservice")
    register(check_production, "authservice", Tags.security, deploy=True)
    # Without the tag "authservice": with it, `check --tag authservice` of Django 6.1 would give the
    # check every database.
    register(check_old_passwords, Tags.database)


def check_oauth(**_: Any) -> Iterator[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    if not apps.is_installed("authservice.oauth") or list(complaints()):
        return
    if conf.providers and not root.api_url:
        yield message("authservice.E200")

    targets = [
        ("DEFAULT_REDIRECT_URL is", conf.default_redirect_url),
        ("ERROR_REDIRECT_URL is", conf.error_redirect_url),
        *(("RETURN_URLS contains", url) for url in conf.return_urls),
    ]
    for name, url in targets:
        if parts_of(str(url)).scheme == "http" and secure():
            yield message("authservice.W205", f"OAUTH.{name} {url!r}, which is an http URL.")

    has_session_module = apps.is_installed("authservice.session")
    if conf.use_session_auth and not has_session_module:
        yield message("authservice.E206")
    # Read from the dict, since the default says nothing about what the project wants.
    section: Any = settings.AUTHSERVICE.get("OAUTH", {})
    if has_session_module and section.get("USE_SESSION_AUTH") is False:
        yield message("authservice.W206")

    # A provider sends no phone number.
    can_sign_up = bool(conf.providers) and conf.allow_signup and core.allow_signup
    if can_sign_up and core.require_phone_verification:
        yield message("authservice.W208")

    columns = {column.name for column in host().model._meta.concrete_fields}
    for name, source in conf.profile_fields.items():
        entry = f"OAUTH.PROFILE_FIELDS[{name!r}]"
        if name not in columns - user_fields.reserved():
            text = f"{entry}: {name!r} is no field of {host().model._meta.label} of your own."
            yield message("authservice.E203", text)
        if source not in profiles.SOURCES:
            text = f"{entry} is {source!r}, which is none of {', '.join(profiles.SOURCES)}."
            yield message("authservice.E203", text)

    yield from provider_settings.check_providers()


def check_production(**_: Any) -> Iterator[CheckMessage]:
    if apps.is_installed("authservice.oauth") and not list(complaints()):
        yield from provider_settings.check_domains()
        yield from provider_settings.check_issuers()


def check_old_passwords(databases: Sequence[str] | None = None, **_: Any) -> Iterator[CheckMessage]:
    """Run by `migrate` and `check --database default`, since it queries the database."""
    installed = apps.is_installed("authservice.oauth") and not list(complaints())
    if installed and earlier_proofs.is_any_at_risk(databases):
        yield message("authservice.W261")
