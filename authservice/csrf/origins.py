"""Where a browser says a request comes from, and whether that place may call.

A page cannot forge `Origin` or `Sec-Fetch-Site` (the Fetch standard forbids scripts to set them).
Whoever sends neither is no browser of today and has only the token to show.
"""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import urlsplit

from authservice.csrf.conf import conf
from authservice.kernel import settings
from authservice.kernel.sections import frontend, root

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9.-]+|[0-9a-f:.]+")
_OWN = ("", "same-origin", "none")


def may_call(origin: str, site: str, own: str) -> bool:
    """`origin` and `site` are the two headers or "", `own` is where the request arrived."""
    if origin in trusted():
        return True
    return site in _OWN and (not origin or origin == normal(own))


@cache
def trusted() -> frozenset[str]:
    """The service itself, its front end, and whom else the host names."""
    named = (root.api_url, frontend.url, *conf.trusted_origins)
    return frozenset(filter(None, map(normal, named)))


def normal(url: str) -> str:
    """Scheme, host and port of an address as browsers write an origin (RFC 6454), or ""."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in _PORTS or not _HOST.fullmatch(parts.hostname or ""):
        return ""
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    shown = "" if port in (None, _PORTS[parts.scheme]) else f":{port}"
    return f"{parts.scheme}://{host}{shown}"


@settings.on_change
def _forget() -> None:
    trusted.cache_clear()
