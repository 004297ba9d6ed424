"""System checks of this module: settings that would leave it open or shut for good."""

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
from authservice.csrf import origins
from authservice.csrf.conf import conf
from authservice.csrf.guard import header_key
from authservice.kernel.sections import cookies, secure
from authservice.kernel.settings import complaints

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 9110 section 5.6.2
_DJANGOS = "django.middleware.csrf.CsrfViewMiddleware"
_OURS = "authservice.csrf.middleware.CsrfMiddleware"


def connect() -> None:
    checks.register(check_csrf, "authservice")


def check_csrf(**_: Any) -> list[checks.CheckMessage]:
    # Core's own check says what is wrong with keys and types; until then nothing can be read.
    if not apps.is_installed("authservice.csrf") or list(complaints()):
        return []
    return [*_cookie(), *_header(), *_life(), *_origins(), *_paths()]


def _cookie() -> Iterator[checks.CheckMessage]:
    others = (cookies.access_name, cookies.refresh_name)
    yield from name_faults("CSRF.COOKIE_NAME", conf.cookie_name, beside=others)
    yield from samesite_faults("CSRF.COOKIE_SAMESITE", conf.cookie_samesite)


def _header() -> Iterator[checks.CheckMessage]:
    if not _TOKEN.fullmatch(conf.header_name) or "_" in conf.header_name:
        yield _error(
            "E130",
            f"CSRF.HEADER_NAME {conf.header_name!r} is no name of a header.",
            "Use letters, digits and hyphens; servers drop names with underscores.",
        )
    both = {_DJANGOS, _OURS} <= set(settings.MIDDLEWARE)
    if both and header_key() == settings.CSRF_HEADER_NAME:
        yield _error(
            "E131",
            "Two middlewares ask for different tokens in one header.",
            "Take one of the two out of MIDDLEWARE, or rename CSRF.HEADER_NAME.",
        )


def _life() -> Iterator[checks.CheckMessage]:
    if conf.ttl <= timedelta(0):
        yield _error("E132", "CSRF.TTL leaves a token no time.", "The default is an hour.")


def _origins() -> Iterator[checks.CheckMessage]:
    for origin in conf.trusted_origins:
        if not _is_origin(origin):
            yield _error(
                "E133",
                f"CSRF.TRUSTED_ORIGINS names {origin!r}, which is no origin.",
                "Give scheme and host, with the port unless it is the usual one, and no more, as"
                " browsers send it: 'https://app.example.com'. There are no wildcards.",
            )
        elif secure() and urlsplit(origin).scheme == "http":
            yield checks.Warning(
                f"CSRF.TRUSTED_ORIGINS names {origin!r}: whoever is on the line speaks for it.",
                hint="Serve it by https and name it so.",
                id="authservice.W134",
            )


def _is_origin(origin: Any) -> bool:
    return isinstance(origin, str) and bool(origin) and origins.normal(origin) == origin.lower()


def _paths() -> Iterator[checks.CheckMessage]:
    for path in conf.exempt_paths:
        if not isinstance(path, str) or not path.startswith("/") or not path.strip("/"):
            yield _error(
                "E135",
                f"CSRF.EXEMPT_PATHS names {path!r}.",
                "Give paths that start with a slash, and not the root of all.",
            )


def _error(id_: str, text: str, hint: str) -> checks.CheckMessage:
    return checks.Error(f"AUTHSERVICE: {text}", hint=hint, id=f"authservice.{id_}")
