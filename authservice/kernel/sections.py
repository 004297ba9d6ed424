"""The settings that stand directly in `AUTHSERVICE`, and the two sections no module owns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal
from urllib.parse import urlsplit

from django.conf import settings as django_settings

from authservice.kernel import settings


@dataclass(frozen=True, kw_only=True)
class Root:
    """Keys directly in `AUTHSERVICE`."""

    api_url: str = ""
    """Public origin of the service with any script prefix, such as `https://api.example.com`."""
    trusted_proxies: int | None = 0
    """How many proxies in front of the server append to `X-Forwarded-For`. 0 trusts `REMOTE_ADDR`
    alone, and so does `None`, which says that there is no proxy and turns the warnings about
    proxies off."""
    access_token_ttl: timedelta = timedelta(minutes=15)
    """Life of an access token."""
    refresh_token_ttl: timedelta = timedelta(days=7)
    """How long a refresh token may lie unused."""
    session_ttl: timedelta = timedelta(days=30)
    """Life of a sign-in, however often it is refreshed."""
    refresh_token_rotation: bool = True
    """Whether a refresh ends the refresh token it was made with."""
    reuse_leeway: timedelta = timedelta(seconds=10)
    """How long a replay of the direct parent counts as a tab or a retry rather than theft."""
    refresh_grace: timedelta = timedelta(0)
    """How long such a replay gets the very same successor instead of a refusal; at most 60 s."""
    signing_keys: tuple[Any, ...] = ()
    """Keys of EdDSA, ES256 or RS256: dicts of `alg`, `private_key`, `state`; see the docs."""
    issuer: str = ""
    """`iss` of access tokens; empty means `API_URL`, or `authservice` without one."""
    audience: str = "authservice"
    """`aud` of access tokens."""


@dataclass(frozen=True, kw_only=True)
class API:
    """`AUTHSERVICE["API"]`."""

    error_details: bool = False
    """Whether a validation error also lists every field in `data.details`."""


@dataclass(frozen=True, kw_only=True)
class Frontend:
    """`AUTHSERVICE["FRONTEND"]`."""

    url: str = ""
    """Origin of the front end that mailed links lead to."""
    verify_email_callback_path: str = ""
    """Where `GET /verify-email` redirects to, below `URL`."""
    reset_password_path: str = "/reset-password"  # noqa: S105 a path, not a password
    """Where links to reset a password lead."""


@dataclass(frozen=True, kw_only=True)
class Cookies:
    """`AUTHSERVICE["COOKIES"]`: tokens in cookies too, for a front end on the site of the API."""

    enabled: bool = False
    """Whether tokens are also kept in `HttpOnly` cookies; needs the csrf module."""
    access_name: str = "authservice_access"
    """Name of the access token's cookie; by https `__Host-` goes before it."""
    refresh_name: str = "authservice_refresh"
    """Name of the refresh token's cookie; by https `__Host-` goes before it."""
    samesite: Literal["Lax", "Strict", "None"] = "Lax"
    """`SameSite` of both; `"None"`, for a front end of another site, needs https."""


root = settings.section("", Root)
api = settings.section("API", API)
frontend = settings.section("FRONTEND", Frontend)
cookies = settings.section("COOKIES", Cookies)


def secure() -> bool:
    """Whether cookies are `Secure`: exactly when the service is reached by https."""
    if root.api_url:
        return urlsplit(root.api_url).scheme == "https"
    return not django_settings.DEBUG
