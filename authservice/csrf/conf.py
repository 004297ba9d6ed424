"""Settings of this module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class Csrf:
    """`AUTHSERVICE["CSRF"]`.

    The cookie is always readable by scripts, for the whole host and for no other; by https it is
    `Secure`. None of that can be set, since each other choice is of no use or of no safety.
    """

    cookie_name: str = "__service_csrf"
    """Name of the cookie; by https `__Host-` goes before it."""
    cookie_samesite: Literal["Lax", "Strict", "None"] = "Lax"
    """`SameSite` of the cookie; `"None"`, for a front end of another site, needs https."""
    header_name: str = "X-CSRF-Token"
    """The header that brings the token back."""
    ttl: timedelta = timedelta(hours=1)
    """Life of a token and of its cookie."""
    trusted_origins: tuple[Any, ...] = ()
    """Further origins that may call, such as `"https://app.example.com"`; no wildcards."""
    exempt_paths: tuple[Any, ...] = ()
    """Paths of the host's own views that `CsrfMiddleware` leaves alone, with all below them."""


conf = section("CSRF", Csrf)
