"""Settings of this module."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated

from authservice.kernel.rules import PageOrPath, Rule, between, one_of
from authservice.kernel.settings import section
from authservice.pages import contrast

_Color = Annotated[str, Rule("a colour such as '#1a56c4'", contrast.COLOR.fullmatch)]


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
