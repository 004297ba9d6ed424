"""The origin of a request as the browser reports it, and whether it may send requests.

A page cannot forge `Origin` or `Sec-Fetch-Site` (the Fetch standard forbids scripts to set them).
A client that sends neither is not a current browser; for it only the token is checked.
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
_SAME_ORIGIN = ("", "same-origin", "none")


def may_call(origin: str, site: str, own: str) -> bool:
    """Whether a request is from a trusted origin or from the service itself.

    `origin` and `site` are the headers `Origin` and `Sec-Fetch-Site`, or ""; `own` is the origin
    that the request was sent to.
    """
    if origin in trusted():
        return True
    return site in _SAME_ORIGIN and (not origin or origin == normal(own))


@cache
def trusted() -> frozenset[str]:
    """The origins of the service, of its front end and of `CSRF.TRUSTED_ORIGINS`."""
    urls = (root.api_url, frontend.url, *conf.trusted_origins)
    return frozenset(filter(None, map(normal, urls)))


def normal(url: str) -> str:
    """Scheme, host and port of a URL in the form of an origin (RFC 6454), or "" if it has none."""
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
