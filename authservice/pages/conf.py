"""Settings of this module, and the contrast of two colours by the Web Content Accessibility
Guidelines (WCAG) 2.2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated

from authservice.kernel.rules import PageOrPath, Rule, between, one_of
from authservice.kernel.settings import section

COLOR = re.compile(r"#[0-9a-fA-F]{6}")
# Success criterion 1.4.3 for text of usual size.
MINIMUM = 4.5
# Backgrounds of the page in light and dark mode.
PAGE, PAGE_DARK = "#ffffff", "#17191f"
# Colours of text on buttons.
_DARK_TEXT, _LIGHT_TEXT = "#101014", "#ffffff"


def ratio(first: str, second: str) -> float:
    """Between 1 and 21, for colours written as `#rrggbb`."""
    darker, lighter = sorted((_luminance(first), _luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


@cache
def text_on(color: str) -> str:
    """The colour of text on a button of this colour: the one with the higher contrast."""
    return max(_LIGHT_TEXT, _DARK_TEXT, key=lambda text: ratio(text, color))


def _luminance(color: str) -> float:
    shares = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    # Linear light: sRGB stores each share with a gamma (WCAG 2.2, relative luminance).
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)
        for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


_Color = Annotated[str, Rule("a colour such as '#1a56c4'", COLOR.fullmatch)]


_FONT = re.compile(r"[\w ,\"'.-]*")


_SignupField = Annotated[
    str, one_of(("name", "first_name", "last_name", "username", "phone_number"))
]


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
    `FRONTEND.URL`, or the login page of this module."""

    font: Annotated[str, Rule("a list of fonts as in CSS", _FONT.fullmatch)] = ""
    """Fonts of the pages as in CSS, such as `Inter, sans-serif`; if empty, those of the system."""
    radius: Annotated[int, between(0, 32, "0 to 32 pixels")] = 12
    """How round buttons, fields and cards are, in pixels."""
    legal_links: dict[str, PageOrPath] = field(default_factory=dict)
    """Links below each page: a dict from names to addresses, such as `{"Terms": "/terms"}`."""
    signup_fields: tuple[_SignupField, ...] = ("name",)
    """Fields of the sign-up page besides the required ones and those of `CORE.SIGNUP_SERIALIZER`:
    `name`, `first_name`, `last_name`, `username` and `phone_number`."""
    provider_names: dict[str, str] = field(default_factory=dict)
    """Names of providers on buttons, a dict such as `{"oidc": "Acme SSO"}`."""


conf = section("PAGES", Pages)
