"""Whether the origin that a browser reports for a request is our own, or trusted.

A page cannot forge `Origin` or `Sec-Fetch-Site` (the Fetch standard forbids scripts to set them).
Browsers send `Sec-Fetch-*` only by https and to localhost.
"""

from __future__ import annotations

from contextlib import suppress

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest

from authservice.kernel.interfaces import RequestGuard
from authservice.kernel.modules import plugs
from authservice.kernel.origins import normal
from authservice.kernel.sections import root


def is_own(origin: str, request: HttpRequest) -> bool:
    """Whether `origin` is that of `API_URL`, or the one that the request was sent to."""
    own = {normal(root.api_url), normal(target_origin(request))}
    return bool(origin) and origin in own


def is_trusted(origin: str, request: HttpRequest) -> bool:
    """Whether `origin` is our own, or one that a request guard trusts."""
    return is_own(origin, request) or any(guard.trusts(origin) for guard in plugs(RequestGuard))


def target_origin(request: HttpRequest) -> str:
    """Scheme and host that the request was sent to; "" if the host is not allowed."""
    with suppress(DisallowedHost):
        return f"{request.scheme}://{request.get_host()}"
    return ""
