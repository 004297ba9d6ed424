"""Settings of this module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Literal

from authservice.kernel.rules import CookieName, HeaderName, Origin, Positive, Rule
from authservice.kernel.settings import section

# '/' is refused: it would turn the check off for the whole project.
_PathPrefix = Annotated[
    str,
    Rule(
        "a path below '/'",
        lambda path: path.startswith("/") and path.strip("/"),
        "Use paths that start with a slash, such as '/webhooks/'.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Csrf:
    """`AUTHSERVICE["CSRF"]`.

    The cookie is always readable by scripts and valid for this host only, with all its paths. Over
    HTTPS it is `Secure`. There are no settings for these, since other values are useless or unsafe.
    """

    cookie_name: CookieName = "__service_csrf"
    """Name of the cookie; over HTTPS it gets the prefix `__Host-`."""
    cookie_samesite: Literal["Lax", "Strict", "None"] = "Lax"
    """`SameSite` of the cookie; `"None"`, for a front end on another site, requires HTTPS."""
    header_name: HeaderName = "X-CSRF-Token"
    """The request header that contains the token."""
    ttl: Positive[timedelta] = timedelta(hours=1)
    """Lifetime of a token and its cookie."""
    trusted_origins: tuple[Origin, ...] = ()
    """Further origins that may send requests, such as `"https://app.example.com"`; no wildcards."""
    exempt_bearer: bool = False
    """Ask only browsers for the token: a request needs none if a bearer token identifies its
    caller, or if it has no `Cookie`, `Origin` or `Sec-Fetch-Site` header. For a web page with
    cookies and a mobile app on one API."""
    exempt_paths: tuple[_PathPrefix, ...] = ()
    """Paths of the host project's views that `CsrfMiddleware` does not check, with all paths below
    them."""


conf = section("CSRF", Csrf)
