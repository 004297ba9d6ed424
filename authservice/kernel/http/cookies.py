"""Cookies of the service: `__Host-` and `Secure` exactly when it is reached by https."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpRequest, HttpResponse

from authservice.kernel import settings


def name(plain: str) -> str:
    """`__Host-` binds a cookie to this very host, out of reach of sub-domains (RFC 6265bis)."""
    return f"__Host-{plain}" if settings.secure() else plain


def get(request: HttpRequest, plain: str) -> str:
    return request.COOKIES.get(name(plain), "")


def put(response: HttpResponse, plain: str, value: str, *, ttl: timedelta) -> None:
    response.set_cookie(
        name(plain),
        value,
        max_age=int(ttl.total_seconds()),
        path="/",
        secure=settings.secure(),
        httponly=True,
        samesite="Lax",
    )
