"""Who calls: the bearer token of the header (RFC 6750 section 2.1) or, where the host has tokens in
cookies, of the cookie.

A cookie is sent unasked, so it counts only beside a guard against forged requests: without one
(the csrf module) there are no token cookies, whatever the settings say.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest

from authservice.kernel import errors
from authservice.kernel.http import cookies
from authservice.kernel.modules import plug, plugs
from authservice.kernel.secret import Secret
from authservice.kernel.sections import cookies as token_cookies

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# An honest token stays far below; a longer one is not worth parsing.
_LONGEST = 8192


def identify(request: HttpRequest) -> Any:
    """Whom the request speaks for. Raises `Unauthorized`, `InvalidToken` or `TokenExpired`."""
    token = access_cookie(request) if by_cookie(request) else _bearer(request)
    if not token:
        raise errors.Unauthorized
    return plug("identify")(token)


def live_caller(request: HttpRequest) -> Any:
    """Whom a live token of the request speaks for, or None: for the few public routes that look."""
    try:
        caller = identify(request)
        caller.require_live()
    except (errors.Unauthorized, errors.InvalidToken, errors.TokenExpired):
        return None
    return caller


def cookies_count() -> bool:
    """Whether tokens are kept in cookies, and a guard stands beside them."""
    return token_cookies.enabled and bool(plugs("request_guard"))


def by_cookie(request: HttpRequest) -> bool:
    """Whether a cookie is what identifies the caller; any `Authorization` wins over it."""
    return not request.META.get("HTTP_AUTHORIZATION") and cookies_count()


def access_cookie(request: HttpRequest) -> Secret:
    return _bounded(cookies.get(request, token_cookies.access_name))


def require_unforged(request: HttpRequest, sign_in_id: UUID | None = None) -> None:
    """Ask every guard; `sign_in_id` where a cookie of ours speaks for that sign-in. Raises."""
    for guard in plugs("request_guard"):
        guard(request, sign_in_id)


def _bearer(request: HttpRequest) -> Secret:
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return _bounded(token.strip() if scheme.lower() == "bearer" else "")


def _bounded(token: str) -> Secret:
    if len(token) > _LONGEST:
        raise errors.InvalidToken
    return Secret(token)
