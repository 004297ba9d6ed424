"""Origins of settings and requests, compared as browsers write them."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

# The default port of each scheme.
_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9.-]+|[0-9a-f:.]+")
_IPV4 = re.compile(r"[0-9]+(\.[0-9]+){3}")


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
    port_suffix = "" if port in (None, _PORTS[parts.scheme]) else f":{port}"
    return f"{parts.scheme}://{host}{port_suffix}"


def parts_of(url: str) -> SplitResult:
    """The parts of an address. All are empty if it cannot be parsed, as `http://[::1`."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 raises ValueError for a port that cannot exist
    except ValueError:
        return urlsplit("")
    return parts


def is_web_address(url: str) -> bool:
    """Whether this is an http or https URL with a host."""
    parts = parts_of(url)
    return parts.scheme in _PORTS and bool(parts.hostname) and _is_plain(url)


def is_loopback(host: str | None) -> bool:
    """Whether a host name or IP address is that of the machine itself."""
    name = (host or "").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def is_path(text: str) -> bool:
    """Whether this is a path below an origin. Browsers read `//host`, and also `/\\host` or a tab
    between the slashes, as the address of another host."""
    return text.startswith("/") and not text.startswith("//") and _is_plain(text)


def _is_plain(url: str) -> bool:
    """Without backslashes, white space and control characters, which browsers change or remove."""
    return url.isprintable() and not {" ", "\\"} & {*url}


def same_site(first: str, second: str) -> bool:
    """Whether browsers count two addresses as one site, so that `SameSite` lets cookies pass.

    A site is the scheme and the registrable domain. There is no list of public suffixes here: two
    hosts below such a suffix, such as `a.co.uk` and `b.co.uk`, are taken for one site.
    """
    return _site(first) == _site(second)


def _site(url: str) -> tuple[str, str]:
    parts = parts_of(url)
    host = parts.hostname or ""
    if ":" in host or _IPV4.fullmatch(host):
        return parts.scheme, host
    return parts.scheme, ".".join(host.rsplit(".", 2)[-2:])
