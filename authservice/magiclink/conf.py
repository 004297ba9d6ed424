"""Settings of this module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from authservice.kernel.conf import section


@dataclass(frozen=True, kw_only=True)
class MagicLink:
    """`AUTHSERVICE["MAGICLINK"]`."""

    ttl: timedelta = timedelta(minutes=15)
    """Life of a link and of its code."""
    auto_register: bool = False
    """Whether who asks with an unknown address gets an account."""
    callback_url: str = ""
    """Where a link leads on, with the tokens in the fragment; empty answers in JSON."""
    confirm: Literal["off", "auto"] = "off"
    """`"auto"` shows a button to a browser that did not ask for the link, so that a scanner of mail
    does not use it up."""


conf = section("MAGICLINK", MagicLink)
