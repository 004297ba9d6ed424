"""System checks of cookies: names that others use, and reach beyond what is safe."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core import checks

from authservice.kernel.sections import cookies, secure
from authservice.kernel.settings import complaints

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 6265 section 4.1.1
_PREFIXES = ("__host-", "__secure-")
_OURS = ("authservice_device", "authservice_signup")


def connect() -> None:
    checks.register(check_cookies, "authservice")


def check_cookies(**_: Any) -> Iterator[checks.CheckMessage]:
    if list(complaints()):
        return
    if cookies.enabled and not apps.is_installed("authservice.csrf"):
        yield checks.Error(
            "AUTHSERVICE['COOKIES'] needs the csrf module: a browser sends cookies unasked.",
            hint="Add 'authservice.csrf' to INSTALLED_APPS; until then tokens go into no cookie.",
            id="authservice.E060",
        )
    names = (("ACCESS_NAME", cookies.access_name), ("REFRESH_NAME", cookies.refresh_name))
    for key, name in names:
        others = [other for of, other in names if of != key]
        yield from name_faults(f"COOKIES.{key}", name, beside=others)
    yield from samesite_faults("COOKIES.SAMESITE", cookies.samesite)


def name_faults(key: str, name: str, *, beside: Collection[str]) -> Iterator[checks.CheckMessage]:
    """What is wrong with the name of a cookie, which is none of `beside` either."""
    if not _NAME.fullmatch(name):
        yield _name_fault(f"{key} {name!r} is no name of a cookie", "letters and underscores")
    if name.lower().startswith(_PREFIXES):
        yield _name_fault(
            f"{key} {name!r} begins with a prefix",
            "the plain name: by https the service puts"
            " __Host- before it, and by http a browser would refuse it",
        )
    if {name, f"__Host-{name}"} & {*_django(), *_OURS, *beside}:
        yield _name_fault(f"{key} {name!r} is the name of another cookie", "one of its own")


def samesite_faults(key: str, samesite: str) -> Iterator[checks.CheckMessage]:
    if samesite == "None" and not secure():
        yield checks.Error(
            f"AUTHSERVICE: {key} is 'None', which browsers take from https alone.",
            hint="Serve API_URL by https, or keep 'Lax'.",
            id="authservice.E062",
        )


def _django() -> tuple[str, ...]:
    return (settings.CSRF_COOKIE_NAME, settings.SESSION_COOKIE_NAME, settings.LANGUAGE_COOKIE_NAME)


def _name_fault(text: str, better: str) -> checks.CheckMessage:
    return checks.Error(f"AUTHSERVICE: {text}.", hint=f"Use {better}.", id="authservice.E061")
