"""System checks of this module: colours with too little contrast, and a missing middleware."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, register

from authservice.kernel.checks import declare, message
from authservice.kernel.sections import frontend
from authservice.kernel.settings import complaints
from authservice.pages import contrast, views
from authservice.pages.conf import conf

declare(
    {
        "authservice.W239": (
            "A colour of PAGES has too little contrast with the page: many people cannot read"
            " links and buttons.",
            "Use a darker COLOR, or a lighter COLOR_DARK: a contrast of 4.5 to 1 is needed (WCAG"
            " 2.2).",
        ),
        "authservice.W240": (
            "Users can sign in on the pages, but views of the project do not know them: MIDDLEWARE"
            " lacks AuthserviceMiddleware.",
            "Add 'authservice.middleware.AuthserviceMiddleware' to MIDDLEWARE, after"
            " AuthenticationMiddleware, or set FRONTEND.URL if the project has a front end.",
        ),
    }
)


def connect() -> None:
    register(check_pages, "authservice")


def check_pages(**_: Any) -> Iterator[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    if not apps.is_installed("authservice.pages") or list(complaints()):
        return
    if views.keeps_logins() and not frontend.url and _MIDDLEWARE not in settings.MIDDLEWARE:
        yield message("authservice.W240")
    colors = (("COLOR", conf.color, contrast.PAGE), ("COLOR_DARK", conf.color_dark, _DARK))
    for name, color, page in colors:
        yield from _color(f"PAGES.{name}", color, page)


_DARK = contrast.PAGE_DARK
_MIDDLEWARE = "authservice.middleware.AuthserviceMiddleware"


def _color(name: str, color: str, page: str) -> Iterator[CheckMessage]:
    if not contrast.COLOR.fullmatch(color):
        return  # authservice.E006
    if (found := contrast.ratio(color, page)) < contrast.MINIMUM:
        text = (
            f"{name} is {color!r}, whose contrast with the page is {found:.1f} to 1: many people"
            " cannot read links and buttons."
        )
        yield message("authservice.W239", text)
