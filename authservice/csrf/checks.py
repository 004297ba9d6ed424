"""System checks of this module: settings that would allow or refuse every request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.apps import apps
from django.conf import settings
from django.core import checks

from authservice.core.cookie_checks import name_faults, samesite_faults
from authservice.csrf.conf import conf
from authservice.csrf.guard import header_key
from authservice.kernel.origins import normal
from authservice.kernel.sections import cookies, secure
from authservice.kernel.settings import complaints

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 9110 section 5.6.2
_DJANGO_MIDDLEWARE = "django.middleware.csrf.CsrfViewMiddleware"
_OUR_MIDDLEWARE = "authservice.csrf.middleware.CsrfMiddleware"


def connect() -> None:
    checks.register(check_csrf, "authservice")


def check_csrf(**_: Any) -> list[checks.CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    if not apps.is_installed("authservice.csrf") or list(complaints()):
        return []
    return [*_cookie(), *_header(), *_ttl(), *_origins(), *_paths()]


def _cookie() -> Iterator[checks.CheckMessage]:
    others = (cookies.access_name, cookies.refresh_name)
    yield from name_faults("CSRF.COOKIE_NAME", conf.cookie_name, beside=others)
    yield from samesite_faults("CSRF.COOKIE_SAMESITE", conf.cookie_samesite)


def _header() -> Iterator[checks.CheckMessage]:
    if not _TOKEN.fullmatch(conf.header_name) or "_" in conf.header_name:
        yield _error(
            "E130",
            f"CSRF.HEADER_NAME {conf.header_name!r} is not a valid header name.",
            "Use letters, digits and hyphens; servers drop headers with underscores.",
        )
    both = {_DJANGO_MIDDLEWARE, _OUR_MIDDLEWARE} <= set(settings.MIDDLEWARE)
    if both and header_key() == settings.CSRF_HEADER_NAME:
        yield _error(
            "E131",
            "CsrfViewMiddleware and CsrfMiddleware read different tokens from the same header.",
            "Remove one of the two from MIDDLEWARE, or change CSRF.HEADER_NAME.",
        )


def _ttl() -> Iterator[checks.CheckMessage]:
    if conf.ttl <= timedelta(0):
        yield _error("E132", "CSRF.TTL must be positive.", "Use a duration such as one hour.")


def _origins() -> Iterator[checks.CheckMessage]:
    for origin in conf.trusted_origins:
        if not _is_origin(origin):
            yield _error(
                "E133",
                f"CSRF.TRUSTED_ORIGINS contains {origin!r}, which is not an origin.",
                "Use scheme and host as browsers send them, such as 'https://app.example.com', with"
                " the port only if it is not the default. Wildcards are not supported.",
            )
        elif secure() and urlsplit(origin).scheme == "http":
            yield checks.Warning(
                f"CSRF.TRUSTED_ORIGINS contains {origin!r}: an attacker on the network can forge"
                " requests from an origin without HTTPS.",
                hint="Serve the origin over HTTPS and list it with https://.",
                id="authservice.W134",
            )


def _is_origin(origin: Any) -> bool:
    return isinstance(origin, str) and bool(origin) and normal(origin) == origin.lower()


def _paths() -> Iterator[checks.CheckMessage]:
    for path in conf.exempt_paths:
        if not isinstance(path, str) or not path.startswith("/") or not path.strip("/"):
            yield _error(
                "E135",
                f"CSRF.EXEMPT_PATHS contains {path!r}, which is not a path below '/'.",
                "Use paths that start with a slash, such as '/webhooks/'. The root is not allowed.",
            )


def _error(id_: str, text: str, hint: str) -> checks.CheckMessage:
    return checks.Error(f"AUTHSERVICE: {text}", hint=hint, id=f"authservice.{id_}")
