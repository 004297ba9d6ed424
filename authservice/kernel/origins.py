"""Origins of settings and requests, compared as browsers write them."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9.-]+|[0-9a-f:.]+")


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
