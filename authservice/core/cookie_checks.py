"""System checks of cookies: two of one name, and a SameSite that needs https."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, register

from authservice.kernel.checks import declare, message
from authservice.kernel.sections import cookies, secure
from authservice.kernel.settings import complaints

declare(
    {
        "authservice.E060": (
            "AUTHSERVICE['COOKIES'] requires 'authservice.csrf': browsers send cookies with"
            " requests of other sites too. Until the module is installed, no token cookies are"
            " set.",
            "Add 'authservice.csrf' to INSTALLED_APPS, or set COOKIES.ENABLED to False.",
        ),
        "authservice.E061": (
            "The name of a cookie is the name of another cookie, so one of the two overwrites the"
            " other.",
            "Use a unique name.",
        ),
        "authservice.E062": (
            "SameSite of a cookie is 'None', which browsers accept over https only, so the cookie"
            " is not stored.",
            "Use https in API_URL, or keep 'Lax'.",
        ),
    }
)

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
    """Check that the name of a cookie differs from those of Django, of the service and `others`."""
    if {name, f"__Host-{name}"} & {*_django(), *_OURS, *others}:
        text = f"{key} is {name!r}, which is the name of another cookie."
        yield message("authservice.E061", text)


def samesite_faults(key: str, samesite: str) -> Iterator[CheckMessage]:
    if samesite == "None" and not secure():
        text = f"{key} is 'None', which browsers accept over https only."
        yield message("authservice.E062", text)


def _django() -> tuple[str, ...]:
    return (settings.CSRF_COOKIE_NAME, settings.SESSION_COOKIE_NAME, settings.LANGUAGE_COOKIE_NAME)
