"""System checks of this module: colours with too little contrast, and URLs that do not work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, register

from authservice.kernel.checks import message
from authservice.kernel.origins import is_path, is_web_address
from authservice.kernel.settings import complaints
from authservice.pages import contrast
from authservice.pages.conf import conf


def connect() -> None:
    register(check_pages, "authservice")


def check_pages(**_: Any) -> Iterator[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    if not apps.is_installed("authservice.pages") or list(complaints()):
        return
    colors = (("COLOR", conf.color, contrast.PAGE), ("COLOR_DARK", conf.color_dark, _DARK))
    for name, color, page in colors:
        yield from _color(f"PAGES.{name}", color, page)
    for name, url in (("LOGO_URL", conf.logo_url), ("HOME_URL", conf.home_url)):
        if url and not (is_path(url) or is_web_address(url)):
            text = f"PAGES.{name} is {url!r}, which is neither a path nor an http or https URL."
            yield message("authservice.E238", text)


_DARK = contrast.PAGE_DARK


def _color(name: str, color: str, page: str) -> Iterator[CheckMessage]:
    if not contrast.COLOR.fullmatch(color):
        text = f"{name} is {color!r}, which is not a colour such as '#1a56c4'."
        yield message("authservice.E237", text)
    elif (found := contrast.ratio(color, page)) < contrast.MINIMUM:
        text = (
            f"{name} is {color!r}, whose contrast with the page is {found:.1f} to 1: many people"
            " cannot read links and buttons."
        )
        yield message("authservice.W239", text)
