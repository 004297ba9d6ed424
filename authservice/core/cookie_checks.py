"""System checks of cookies: invalid or conflicting names, and an unsafe SameSite."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, register

from authservice.kernel.checks import message
from authservice.kernel.sections import cookies, secure
from authservice.kernel.settings import complaints

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 6265 section 4.1.1
_PREFIXES = ("__host-", "__secure-")
_OURS = ("authservice_device", "authservice_signup")


def connect() -> None:
    register(check_cookies, "authservice")


def check_cookies(**_: Any) -> Iterator[CheckMessage]:
    if list(complaints()):
        return
    if cookies.enabled and not apps.is_installed("authservice.csrf"):
        yield message("authservice.E060")
    names = (("ACCESS_NAME", cookies.access_name), ("REFRESH_NAME", cookies.refresh_name))
    for key, name in names:
        others = [other for of, other in names if of != key]
        yield from name_faults(f"COOKIES.{key}", name, others=others)
    yield from samesite_faults("COOKIES.SAMESITE", cookies.samesite)


def name_faults(key: str, name: str, *, others: Collection[str]) -> Iterator[CheckMessage]:
    """Check the name of a cookie, which must also differ from the names in `others`."""
    if not _NAME.fullmatch(name):
        yield _name_fault(f"{key} is {name!r}, which is not a valid cookie name.")
    if name.lower().startswith(_PREFIXES):
        yield _name_fault(
            f"{key} is {name!r}, which has a cookie prefix.",
            "Use the name without the prefix: over https the service adds __Host-, and over http"
            " browsers refuse cookies with it.",
        )
    if {name, f"__Host-{name}"} & {*_django(), *_OURS, *others}:
        yield _name_fault(f"{key} is {name!r}, which is the name of another cookie.")


def samesite_faults(key: str, samesite: str) -> Iterator[CheckMessage]:
    if samesite == "None" and not secure():
        text = f"{key} is 'None', which browsers accept over https only."
        yield message("authservice.E062", text)


def _django() -> tuple[str, ...]:
    return (settings.CSRF_COOKIE_NAME, settings.SESSION_COOKIE_NAME, settings.LANGUAGE_COOKIE_NAME)


def _name_fault(text: str, hint: str = "") -> CheckMessage:
    return message("authservice.E061", text, hint=hint)
