"""System checks of the oauth module: addresses, lifetimes, login module and storages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, Tags, register
from django.utils.module_loading import import_string

from authservice.core.conf import core
from authservice.core.recovery import chosen_proofs
from authservice.kernel.checks import message
from authservice.kernel.origins import is_web_address, parts_of
from authservice.kernel.sections import root, secure
from authservice.kernel.settings import complaints
from authservice.oauth import provider_settings
from authservice.oauth.conf import conf

_USERS = ("find", "find_by_email", "lock", "create")
_LINKS = ("find", "of_user", "add", "remove", "store_tokens")
_SESSIONS = ("begin", "alive", "touch", "end", "live_for")


def connect() -> None:
    register(check_oauth, "authservice")
    register(check_old_passwords, "authservice", Tags.database)


def check_oauth(**_: Any) -> list[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    if not apps.is_installed("authservice.oauth") or list(complaints()):
        return []
    return [
        *_address(),
        *_life(),
        *_onward(),
        *_login_module(),
        *_storages(),
        *_registering(),
        *provider_settings.check_providers(),
    ]


def check_old_passwords(databases: Sequence[str] | None = None, **_: Any) -> Iterator[CheckMessage]:
    """Run by `migrate` and `check --database default`, since it queries the database."""
    installed = apps.is_installed("authservice.oauth") and not list(complaints())
    if installed and chosen_proofs.is_any_at_risk(databases):
        yield message("authservice.W261")


def _address() -> Iterator[CheckMessage]:
    if conf.providers and not root.api_url:
        yield message("authservice.E200")


def _life() -> Iterator[CheckMessage]:
    if conf.state_ttl <= timedelta(0):
        yield message("authservice.E204")


def _onward() -> Iterator[CheckMessage]:
    for name in ("default_redirect_url", "error_redirect_url"):
        url = getattr(conf, name)
        if not url:
            continue
        given = f"OAUTH.{name.upper()} is {url!r}"
        if not is_web_address(url):
            yield message("authservice.E205", f"{given}, which is not an http or https URL.")
        elif "#" in url:
            yield message("authservice.E205", f"{given}, which has a fragment.")
        elif parts_of(url).scheme == "http" and secure():
            yield message("authservice.W205", f"{given}, which is an http URL.")


def _login_module() -> Iterator[CheckMessage]:
    sessions = apps.is_installed("authservice.session")
    if conf.use_session_auth and not sessions:
        yield message("authservice.E206")
    if sessions and not conf.use_session_auth:
        yield message("authservice.W206")


def _storages() -> Iterator[CheckMessage]:
    for name, methods in (
        ("core_storage", _USERS),
        ("oauth_storage", _LINKS),
        ("session_storage", _SESSIONS),
    ):
        yield from _storage(f"OAUTH.{name.upper()}", getattr(conf, name), methods)


def _storage(name: str, path: str, methods: tuple[str, ...]) -> Iterator[CheckMessage]:
    if not path:
        return
    try:
        chosen = import_string(path)
    except ImportError as wrong:
        yield message("authservice.E207", f"{name} is {path!r}, which cannot be imported: {wrong}")
        return
    missing = [method for method in methods if not callable(getattr(chosen, method, None))]
    if missing:
        text = f"{name} is {path!r}, which lacks the methods {', '.join(missing)}."
        yield message("authservice.E207", text)


def _registering() -> Iterator[CheckMessage]:
    signup = bool(conf.providers) and conf.allow_signup and core.allow_signup
    if signup and core.require_phone_verification:
        yield message("authservice.W208")
