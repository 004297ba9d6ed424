"""Bearer tokens of a request (RFC 6750 section 2.1)."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from authservice.kernel import errors
from authservice.kernel.modules import plug

# An honest token stays far below; a longer one is not worth parsing.
_LONGEST = 8192


def identify(request: HttpRequest) -> Any:
    """Whom the request speaks for. Raises `Unauthorized`, `InvalidToken` or `TokenExpired`."""
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise errors.Unauthorized
    if len(token) > _LONGEST:
        raise errors.InvalidToken
    return plug("identify")(token)
