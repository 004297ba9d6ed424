"""System checks of this module: settings that would allow or refuse every request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, register

from authservice.core.cookie_checks import name_faults, samesite_faults
from authservice.csrf.conf import conf
from authservice.csrf.guard import header_key
from authservice.kernel.checks import message
from authservice.kernel.origins import normal, same_site
from authservice.kernel.sections import cookies, frontend, root, secure
from authservice.kernel.settings import complaints

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 9110 section 5.6.2
_DJANGO_MIDDLEWARE = "django.middleware.csrf.CsrfViewMiddleware"
_OUR_MIDDLEWARE = "authservice.csrf.middleware.CsrfMiddleware"


def connect() -> None:
    register(check_csrf, "authservice")


def check_csrf(**_: Any) -> list[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    if not apps.is_installed("authservice.csrf") or list(complaints()):
        return []
    return [*_cookie(), *_header(), *_ttl(), *_origins(), *_paths(), *_sites()]


def _cookie() -> Iterator[CheckMessage]:
    others = (cookies.access_name, cookies.refresh_name)
    yield from name_faults("CSRF.COOKIE_NAME", conf.cookie_name, others=others)
    yield from samesite_faults("CSRF.COOKIE_SAMESITE", conf.cookie_samesite)


def _header() -> Iterator[CheckMessage]:
    if not _TOKEN.fullmatch(conf.header_name) or "_" in conf.header_name:
        text = f"CSRF.HEADER_NAME is {conf.header_name!r}, which is not a valid header name."
        yield message("authservice.E130", text)
    both = {_DJANGO_MIDDLEWARE, _OUR_MIDDLEWARE} <= set(settings.MIDDLEWARE)
    if both and header_key() == settings.CSRF_HEADER_NAME:
        yield message("authservice.E131")


def _ttl() -> Iterator[CheckMessage]:
    if conf.ttl <= timedelta(0):
        yield message("authservice.E132")


def _origins() -> Iterator[CheckMessage]:
    for origin in conf.trusted_origins:
        if not _is_origin(origin):
            text = f"CSRF.TRUSTED_ORIGINS contains {origin!r}, which is not an origin."
            yield message("authservice.E133", text)
        elif secure() and urlsplit(origin).scheme == "http":
            yield message(
                "authservice.W134",
                f"CSRF.TRUSTED_ORIGINS contains {origin!r}: an attacker on the network can forge"
                " requests from an origin without https.",
            )


def _sites() -> Iterator[CheckMessage]:
    """The cookies that browsers keep from requests of a front end on another site."""
    kept = {"CSRF.COOKIE_SAMESITE": conf.cookie_samesite}
    if cookies.enabled:
        kept["COOKIES.SAMESITE"] = cookies.samesite
    names = [name for name, samesite in kept.items() if samesite != "None"]
    if names and root.api_url and frontend.url and not same_site(root.api_url, frontend.url):
        keep, them = ("keep", "the cookies") if len(names) > 1 else ("keeps", "the cookie")
        yield message(
            "authservice.W231",
            f"AUTHSERVICE['API_URL'] is {root.api_url!r} and FRONTEND.URL is {frontend.url!r},"
            f" which is another site. {' and '.join(names)} {keep} browsers from sending {them}, so"
            " requests of the front end are refused.",
        )


def _is_origin(origin: Any) -> bool:
    return isinstance(origin, str) and bool(origin) and normal(origin) == origin.lower()


def _paths() -> Iterator[CheckMessage]:
    for path in conf.exempt_paths:
        if not isinstance(path, str) or not path.startswith("/") or not path.strip("/"):
            text = f"CSRF.EXEMPT_PATHS contains {path!r}, which is not a path below '/'."
            yield message("authservice.E135", text)
