"""Cookies of the service: `__Host-` and `Secure` if and only if it is reached over HTTPS."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Literal, TypeAlias

from django.http import HttpRequest, HttpResponse

from authservice.kernel import sections

SameSite: TypeAlias = Literal["Lax", "Strict", "None"]

logger = logging.getLogger("authservice.cookies")

# Name, value and attributes together, in bytes; browsers silently drop longer cookies.
_LONGEST = 4096
_ATTRIBUTES = 160


def name(plain: str) -> str:
    """The cookie's name with `__Host-`, which binds it to this host: subdomains can neither read
    nor set it (RFC 6265bis)."""
    return f"__Host-{plain}" if sections.secure() else plain


def get(request: HttpRequest, plain: str) -> str:
    value: str = request.COOKIES.get(name(plain), "")
    return value if len(value) <= _LONGEST else ""  # no browser stores a longer one


def starting_with(request: HttpRequest, plain: str) -> dict[str, str]:
    """The cookies of the request whose names start with `plain`, by their names without prefix."""
    prefix = name("")
    return {
        key.removeprefix(prefix): value
        for key, value in request.COOKIES.items()
        if key.startswith(name(plain))
    }


def leave_out(request: HttpRequest) -> None:
    """Let the response to this request set no cookie: a guard found that its client keeps none.

    `put` does not know the request. What finishes the response asks `are_unwanted`.
    """
    request.__dict__["_authservice_without_cookies"] = True


def are_unwanted(request: HttpRequest) -> bool:
    """Whether `leave_out` was called for this request."""
    return "_authservice_without_cookies" in request.__dict__


def put(
    response: HttpResponse,
    plain: str,
    value: str,
    *,
    ttl: timedelta,
    httponly: bool = True,
    samesite: SameSite = "Lax",
) -> None:
    if len(plain) + len(value) + _ATTRIBUTES > _LONGEST:
        # The browser would keep the previous cookie, which may belong to another user.
        logger.error("The cookie %s exceeds %d bytes and is not set", plain, _LONGEST)
        forget(response, plain, samesite=samesite)
        return
    response.set_cookie(
        name(plain),
        value,
        max_age=int(ttl.total_seconds()),
        path="/",
        secure=sections.secure(),
        httponly=httponly,
        samesite=samesite,
    )


def forget(response: HttpResponse, plain: str, *, samesite: SameSite = "Lax") -> None:
    response.delete_cookie(name(plain), path="/", samesite=samesite)
