"""Settings of this module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from authservice.kernel.rules import PageOrPath, Rule
from authservice.kernel.settings import section
from authservice.pages import contrast

_Color = Annotated[str, Rule("a colour such as '#1a56c4'", contrast.COLOR.fullmatch)]


@dataclass(frozen=True, kw_only=True)
class Pages:
    """`AUTHSERVICE["PAGES"]`: how all pages of the service look, and where they lead."""

    name: str = ""
    """Name of the project, shown at the top of each page and in its title."""
    logo_url: PageOrPath = ""
    """URL of the logo, shown instead of the name: below `STATIC_URL` or with https."""
    color: _Color = "#1a56c4"
    """Colour of buttons and links, as `#rrggbb`; used on white."""
    color_dark: _Color = "#9dbcf7"
    """The same in dark mode, where the page is nearly black."""
    home_url: PageOrPath = ""
    """Where a page leads when it is done, such as the login page of the project. If empty,
    `FRONTEND.URL`; without either, the page has no link."""


conf = section("PAGES", Pages)
