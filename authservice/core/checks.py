"""System checks of the host project's settings, each message with a hint.

`manage.py check --deploy` adds the checks that matter only in production.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.hashers import get_hasher
from django.core.checks import CheckMessage, register
from django.core.exceptions import ImproperlyConfigured
from django.urls import NoReverseMatch, URLResolver, get_resolver, get_script_prefix
from django.utils.module_loading import import_string

from authservice.core import cookie_checks, field_checks, hook_checks, production_checks
from authservice.core.conf import core
from authservice.core.tokens import signing_keys
from authservice.core.users.user_model import host
from authservice.kernel import modules, throttling
from authservice.kernel import settings as kernel_settings
from authservice.kernel.checks import message
from authservice.kernel.mount import mount
from authservice.kernel.origins import is_path, is_web_address, parts_of
from authservice.kernel.sections import Frontend, cookies, frontend, outbound, root

_DOTTED = ("claims_hook", *field_checks.SERIALIZERS, *hook_checks.HOOKS)
_GRACE = timedelta(seconds=60)
_INVITING = {
    "authservice.invitation": "to accept an invitation",
    "authservice.organization": "to accept an invitation to an organization",
}


def connect() -> None:
    for check in (check_settings, check_apps, check_keys, check_mount, check_host):
        register(check, "authservice")
    cookie_checks.connect()
    field_checks.connect()
    hook_checks.connect()
    production_checks.connect()


def check_settings(**_: Any) -> list[CheckMessage]:
    ids = {"unknown": "authservice.E001", "type": "authservice.E002"}
    found = [
        message(ids[wrong.kind], wrong.text, hint=wrong.hint)
        for wrong in kernel_settings.complaints()
    ]
    return found or [*_unimportable(), *_values()]


def _unimportable() -> Iterator[CheckMessage]:
    paths = [(f"{module.name}.{slot}", path) for module, slot, path in modules.slots_filled()]
    paths += [
        (f"AUTHSERVICE['CORE']['{name.upper()}']", path)
        for name in _DOTTED
        if (path := getattr(core, name))
    ]
    for where, path in paths:
        try:
            import_string(path)
        except ImportError as wrong:
            text = f"{where} is {path!r}, which cannot be imported: {wrong}"
            yield message("authservice.E003", text)


def _values() -> Iterator[CheckMessage]:
    for name, url in {"['API_URL']": root.api_url, "['FRONTEND']['URL']": frontend.url}.items():
        if url and not is_web_address(url):
            text = f"AUTHSERVICE{name} is {url!r}, which is not an http or https URL."
            yield message("authservice.E005", text)
    for name in ("access_token_ttl", "refresh_token_ttl", "session_ttl"):
        if getattr(root, name) <= timedelta(0):
            yield _value(name.upper(), getattr(root, name), "must be positive")
    if root.access_token_ttl > min(root.session_ttl, root.refresh_token_ttl) > timedelta(0):
        yield message("authservice.W232")
    if not timedelta(0) <= root.refresh_grace <= _GRACE:
        yield _value("REFRESH_GRACE", root.refresh_grace, "must be between 0 and 60 seconds")
    try:
        get_hasher(core.dummy_hasher)
    except ValueError as wrong:
        yield _value("CORE.DUMMY_HASHER", core.dummy_hasher, f"must name a usable hasher: {wrong}")
    if core.hashes_in_flight < 0:
        yield _value("CORE.HASHES_IN_FLIGHT", core.hashes_in_flight, "must not be negative")
    if (root.trusted_proxies or 0) < 0:
        yield _value("TRUSTED_PROXIES", root.trusted_proxies, "must not be negative")
    yield from _rates()
    yield from _outbound()
    yield from _confirmation()
    yield from _paths()
    yield from _links()


def _confirmation() -> Iterator[CheckMessage]:
    if cookies.enabled and core.verify_confirm == "off":
        yield message("authservice.W112")


def _links() -> Iterator[CheckMessage]:
    """Links to pages that do not exist. Without a messenger no mails are sent."""
    if frontend.url or not modules.plugs("messenger"):
        return
    texts = _moved_links() if modules.plugs("link_pages") else [_missing_pages()]
    for text in texts:
        yield message("authservice.W230", text)


def _missing_pages() -> str:
    purposes = ["to choose a new password"]
    purposes += [of for name, of in _INVITING.items() if apps.is_installed(name)]
    return (
        f"FRONTEND.URL is not set: the links in e-mails {_listed(purposes)} lead to an address of"
        " this service that has no page. A user who clicks one sees an error (405) in JSON."
    )


def _moved_links() -> Iterator[str]:
    """Paths of a front end, although there is none: the pages are at the default paths."""
    for name, given, default in _front_end_paths():
        if default and given != default:
            yield (
                f"{name} is {given!r}, but FRONTEND.URL is not set: the link leads to an address of"
                f" this service that has no page. The page of 'authservice.pages' is at"
                f" {default!r}."
            )


def _front_end_paths() -> Iterator[tuple[str, str, str]]:
    """Name, value and default of each setting that is a path in the front end."""
    for path in fields(Frontend):
        if path.name.endswith("_path"):
            name = f"FRONTEND.{path.name.upper()}"
            yield name, getattr(frontend, path.name), str(path.default)


def _paths() -> Iterator[CheckMessage]:
    for name, given, _ in _front_end_paths():
        _, hash_sign, fragment = given.partition("#")
        # Only the router of a front end reads a query after "#", where token and status are added.
        if given and (not is_path(given) or (hash_sign and not fragment.startswith("/"))):
            text = (
                f"{name} is {given!r}, which is not a path below FRONTEND.URL such as '/page', so"
                " its link or redirect leads to a wrong page."
            )
            yield message("authservice.E240", text)


def _listed(parts: list[str]) -> str:
    return ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else parts[0]


def _outbound() -> Iterator[CheckMessage]:
    if outbound.timeout <= timedelta(0):
        yield _value("OUTBOUND.TIMEOUT", outbound.timeout, "must be positive")
    for name in ("max_bytes", "in_flight"):
        if getattr(outbound, name) <= 0:
            yield _value(f"OUTBOUND.{name.upper()}", getattr(outbound, name), "must be positive")
    if outbound.ca_file and not os.access(outbound.ca_file, os.R_OK):
        yield _value("OUTBOUND.CA_FILE", outbound.ca_file, "must be a readable file")


def _rates() -> Iterator[CheckMessage]:
    for scope, text in throttling.conf.rates.items():
        if scope not in throttling.RATES:
            known = ", ".join(throttling.RATES)
            yield _value("THROTTLE.RATES", scope, f"may only have the keys {known}")
            continue
        try:
            throttling.parse(text)
        except (TypeError, ValueError):
            yield _value(f"THROTTLE.RATES.{scope}", text, "must be a rate such as '20/h'")
    if throttling.conf.cache not in settings.CACHES:
        yield _value("THROTTLE.CACHE", throttling.conf.cache, "must be an alias in CACHES")


def _value(name: str, value: Any, rule: str) -> CheckMessage:
    shown = str(value) if isinstance(value, timedelta) else repr(value)
    return message("authservice.E006", f"{name} {rule.rstrip('.')}, but is {shown}.")


def check_apps(**_: Any) -> Iterator[CheckMessage]:
    if not apps.is_installed("rest_framework"):
        yield message("authservice.E004")
    if any(entry.split(".apps.")[0] == "authservice" for entry in settings.INSTALLED_APPS):
        yield message("authservice.E007")
    if all(apps.is_installed(name) for name in modules.LOGIN_MODULES):
        yield message("authservice.E010")


def check_keys(**_: Any) -> list[CheckMessage]:
    if list(kernel_settings.complaints()) or not root.signing_keys:
        return []
    try:
        signing_keys.configured()
    except ImproperlyConfigured as wrong:
        return [message("authservice.E050", str(wrong))]
    return []


def check_mount(**_: Any) -> Iterator[CheckMessage]:
    if not getattr(settings, "ROOT_URLCONF", None):
        return
    try:
        prefixes = list(_prefixes(get_resolver()))
    except (ImportError, ImproperlyConfigured):
        return  # Django's own check of URLs reports it
    if not prefixes:
        yield message("authservice.W013")
        return
    if "" in prefixes:
        yield message("authservice.E011")
    try:
        path = mount().removeprefix(get_script_prefix())
    except NoReverseMatch:
        yield message("authservice.W014")
        return
    if _repeated_in_api_url(path.strip("/")):
        yield message("authservice.W012")


def _prefixes(resolver: URLResolver, before: str = "") -> Iterator[str]:
    """The path of each include of our URLs, at any depth. Two are no mistake: all routes work below
    both, and Django's own check warns of two with one namespace."""
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            path = before + str(entry.pattern).removeprefix("^")
            if entry.app_name == "authservice":
                yield path
            else:
                yield from _prefixes(entry, path)


def _repeated_in_api_url(prefix: str) -> bool:
    """Whether the path of API_URL, which may be the script prefix, also ends with this prefix."""
    if not prefix or list(kernel_settings.complaints()):
        return False
    return f"/{parts_of(root.api_url).path.strip('/')}".endswith(f"/{prefix}")


def check_host(**_: Any) -> Iterator[CheckMessage]:
    if not host().email:
        yield message("authservice.W080")
    if not settings.AUTH_PASSWORD_VALIDATORS:
        yield message("authservice.W090")
    if any(database.get("ATOMIC_REQUESTS") for database in settings.DATABASES.values()):
        yield message("authservice.I070")
