"""Settings of the magic-link module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from authservice.kernel.rules import Positive, TokenTarget
from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class MagicLink:
    """`AUTHSERVICE["MAGICLINK"]`."""

    ttl: Positive[timedelta] = timedelta(minutes=15)
    """How long a link and its code are valid."""
    auto_register: bool = False
    """Create an account when an unknown address requests a link."""
    callback_url: TokenTarget = ""
    """Front-end URL that a link redirects to, with the tokens in the fragment, or with
    `status=signed_in` if they are in cookies. If empty, the response is JSON."""
    confirm: Literal["auto", "off"] = "auto"
    """`"auto"` shows a page with a button to a browser that did not request the link, so that a
    mail scanner cannot use up the link. `"off"` logs in any client that opens the link; a system
    check warns about `"off"` if tokens are sent in cookies."""


conf = section("MAGICLINK", MagicLink)
