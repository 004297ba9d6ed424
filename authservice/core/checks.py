"""System checks of the host project's settings, each message with a hint.

The ids are public: E errors, W warnings, I information. `manage.py check --deploy` adds the checks
that matter only in production.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.apps import apps
from django.conf import settings
from django.contrib.auth.hashers import get_hasher
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.urls import URLResolver, get_resolver
from django.utils.module_loading import import_string

from authservice.core import cookie_checks, production_checks
from authservice.core.conf import core
from authservice.core.tokens import signing_keys
from authservice.core.users.user_model import host
from authservice.kernel import modules, throttling
from authservice.kernel import settings as kernel_settings
from authservice.kernel.sections import cookies, root

_GRACE = timedelta(seconds=60)


def connect() -> None:
    for check in (check_settings, check_apps, check_keys, check_mount, check_host):
        checks.register(check, "authservice")
    cookie_checks.connect()
    production_checks.connect()


def check_settings(**_: Any) -> list[checks.CheckMessage]:
    ids = {"unknown": "authservice.E001", "type": "authservice.E002"}
    found: list[checks.CheckMessage] = [
        checks.Error(
            wrong.text,
            hint=wrong.hint
            or "See its type and default on the settings page of the documentation.",
            id=ids[wrong.kind],
        )
        for wrong in kernel_settings.complaints()
    ]
    return found or [*_unimportable(), *_values()]


def _unimportable() -> Iterator[checks.CheckMessage]:
    paths = [(f"{module.name}.{slot}", path) for module, slot, path in modules.slots_filled()]
    if core.claims_hook:
        paths.append(("AUTHSERVICE['CORE']['CLAIMS_HOOK']", core.claims_hook))
    for where, path in paths:
        try:
            import_string(path)
        except ImportError as wrong:
            yield checks.Error(
                f"{where} is {path!r}, which cannot be imported: {wrong}",
                hint="Use the dotted path of an importable object.",
                id="authservice.E003",
            )


def _values() -> Iterator[checks.CheckMessage]:
    parts = urlsplit(root.api_url)
    if root.api_url and (parts.scheme not in ("http", "https") or not parts.hostname):
        yield checks.Error(
            f"AUTHSERVICE['API_URL'] is {root.api_url!r}, which is not an http or https URL.",
            hint="Set it to scheme and host, such as 'https://api.example.com'.",
            id="authservice.E005",
        )
    for name in ("access_token_ttl", "refresh_token_ttl", "session_ttl"):
        if getattr(root, name) <= timedelta(0):
            yield _value(name.upper(), getattr(root, name), "must be positive")
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
    yield from _confirmation()


def _confirmation() -> Iterator[checks.CheckMessage]:
    if cookies.enabled and core.verify_confirm == "off":
        yield checks.Warning(
            "AUTHSERVICE: CORE.VERIFY_CONFIRM is 'off' and COOKIES.ENABLED is true: if a mail"
            " scanner or a page of another site opens a link, it verifies an attacker's account.",
            hint="Set CORE.VERIFY_CONFIRM to 'auto', the default.",
            id="authservice.W112",
        )


def _rates() -> Iterator[checks.CheckMessage]:
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


def _value(name: str, value: Any, rule: str) -> checks.CheckMessage:
    shown = str(value) if isinstance(value, timedelta) else repr(value)
    return checks.Error(
        f"AUTHSERVICE: {name} {rule.rstrip('.')}, but is {shown}.",
        hint="Remove it to use the default, which is on the settings page of the documentation.",
        id="authservice.E006",
    )


def check_apps(**_: Any) -> Iterator[checks.CheckMessage]:
    if not apps.is_installed("rest_framework"):
        yield checks.Error(
            "authservice needs Django REST framework.",
            hint="Add 'rest_framework' to INSTALLED_APPS.",
            id="authservice.E004",
        )
    if any(entry.split(".apps.")[0] == "authservice" for entry in settings.INSTALLED_APPS):
        yield checks.Error(
            "'authservice' in INSTALLED_APPS is not an app.",
            hint="Replace it by its modules, 'authservice.core' first.",
            id="authservice.E007",
        )
    if all(apps.is_installed(name) for name in modules.LOGIN_MODULES):
        yield checks.Error(
            "'authservice.session' and 'authservice.stateless' cannot be installed together.",
            hint="Remove one of them; without either, stateless is the default.",
            id="authservice.E010",
        )


def check_keys(**_: Any) -> list[checks.CheckMessage]:
    if list(kernel_settings.complaints()) or not root.signing_keys:
        return []
    try:
        signing_keys.configured()
    except ImproperlyConfigured as wrong:
        return [
            checks.Error(
                f"AUTHSERVICE: {wrong}",
                hint="Each key is a dict of 'alg', 'state' and a PEM key; exactly one is 'active'.",
                id="authservice.E050",
            )
        ]
    return []


def check_mount(**_: Any) -> Iterator[checks.CheckMessage]:
    if not getattr(settings, "ROOT_URLCONF", None):
        return
    for entry in get_resolver().url_patterns:
        named = getattr(getattr(entry, "urlconf_name", None), "__name__", None)
        ours = isinstance(entry, URLResolver) and named == "authservice.urls"
        if ours and not str(entry.pattern):
            yield checks.Error(
                "authservice.urls is mounted without a prefix.",
                hint="Mount it with a prefix, as path('auth/', include('authservice.urls')): it"
                " answers 404 itself to all unknown paths below the prefix.",
                id="authservice.E011",
            )


def check_host(**_: Any) -> Iterator[checks.CheckMessage]:
    if not host().email:
        yield checks.Warning(
            "The user model has no e-mail field; addresses are stored in the account table.",
            hint="No action is needed, unless the model's EMAIL_FIELD is misspelled.",
            id="authservice.W080",
        )
    if not settings.AUTH_PASSWORD_VALIDATORS:
        yield checks.Warning(
            "AUTH_PASSWORD_VALIDATORS is empty: any eight characters are accepted as a password.",
            hint="Add Django's four validators.",
            id="authservice.W090",
        )
    if any(database.get("ATOMIC_REQUESTS") for database in settings.DATABASES.values()):
        yield checks.Info(
            "ATOMIC_REQUESTS does not apply to authservice: its views open their own"
            " transactions, so that the attempt of a refused request stays counted.",
            id="authservice.I070",
        )
