"""Settings of this module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class MagicLink:
    """`AUTHSERVICE["MAGICLINK"]`."""

    ttl: timedelta = timedelta(minutes=15)
    """Life of a link and of its code."""
    auto_register: bool = False
    """Whether who asks with an unknown address gets an account."""
    callback_url: str = ""
    """Where a link leads on, with the tokens in the fragment; empty answers in JSON."""
    confirm: Literal["auto", "off"] = "auto"
    """`"auto"` shows a page with a button to a browser that did not request the link, so that a
    mail scanner does not use it up. With `"off"` any client that opens the link logs in; a check
    warns of it if tokens are in cookies."""


conf = section("MAGICLINK", MagicLink)
