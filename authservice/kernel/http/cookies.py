"""Cookies of the service: `__Host-` and `Secure` exactly when it is reached by https."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Literal, TypeAlias

from django.http import HttpRequest, HttpResponse

from authservice.kernel import sections

SameSite: TypeAlias = Literal["Lax", "Strict", "None"]

logger = logging.getLogger("authservice.cookies")

# Name, value and attributes together; browsers drop a longer cookie without a word.
_LONGEST = 4096
_ATTRIBUTES = 160


def name(plain: str) -> str:
    """`__Host-` binds a cookie to this very host, out of reach of sub-domains (RFC 6265bis)."""
    return f"__Host-{plain}" if sections.secure() else plain


def get(request: HttpRequest, plain: str) -> str:
    value: str = request.COOKIES.get(name(plain), "")
    return value if len(value) <= _LONGEST else ""  # no browser keeps such a cookie


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
        # A browser would go on with the one before, which may be somebody else's.
        logger.error("The cookie %s would be too long and is not set", plain)
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
