"""Settings of this module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class Csrf:
    """`AUTHSERVICE["CSRF"]`.

    The cookie is always readable by scripts and valid for this host only, with all its paths. Over
    HTTPS it is `Secure`. There are no settings for these, since other values are useless or unsafe.
    """

    cookie_name: str = "__service_csrf"
    """Name of the cookie; over HTTPS it gets the prefix `__Host-`."""
    cookie_samesite: Literal["Lax", "Strict", "None"] = "Lax"
    """`SameSite` of the cookie; `"None"`, for a front end on another site, requires HTTPS."""
    header_name: str = "X-CSRF-Token"
    """The request header that contains the token."""
    ttl: timedelta = timedelta(hours=1)
    """Lifetime of a token and its cookie."""
    trusted_origins: tuple[Any, ...] = ()
    """Further origins that may send requests, such as `"https://app.example.com"`; no wildcards."""
    exempt_paths: tuple[Any, ...] = ()
    """Paths of the host project's views that `CsrfMiddleware` does not check, with all paths below
    them."""


conf = section("CSRF", Csrf)
