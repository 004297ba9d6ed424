"""The address of a client, also behind proxies that the project trusts (`TRUSTED_PROXIES`)."""

from __future__ import annotations

import ipaddress
import logging
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from authservice.kernel import settings
from authservice.kernel.sections import UNIX, Network, root, trusted_network

logger = logging.getLogger("authservice.request")

_MAX_ADDRESS = 64
# Some proxies also write the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
_PORT = re.compile(r"^(?:\[)?((?<=\[)[0-9A-Fa-f:.]+(?=\])|[0-9.]+)(?:\])?(?::\d+)?$")
# Headers in which proxies forward the client's address.
_FORWARDED = {"HTTP_X_FORWARDED_FOR": "X-Forwarded-For", "HTTP_FORWARDED": "Forwarded"}
# What servers call the peer of a Unix socket, which has no address.
_NAMELESS = ("", "unix:")
_reported = False


def of(meta: Mapping[str, Any]) -> tuple[str, str]:
    """The client's IP address, and the key of the flood limits: the same IPv4 address, or the /64
    of an IPv6 address. Both are "" if the address is unknown. `meta` is `META` of a request."""
    return _place(_claimed(meta))


def _claimed(meta: Mapping[str, Any]) -> str:
    """The client's address as the trusted proxies report it.

    Each proxy appends the address of its peer to the header, so entries are read from the right.
    A client can forge only those further left.
    """
    peer: str = meta.get("REMOTE_ADDR") or ""
    proxies = root.trusted_proxies
    if not proxies:
        if proxies is not None:
            _report_proxy(meta)
        return peer
    # Cut, because `_place` caches its argument; no valid address is longer.
    hops = [hop.strip()[:_MAX_ADDRESS] for hop in meta.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    if isinstance(proxies, int):
        return hops[-proxies] if len(hops) >= proxies and hops[-proxies] else peer
    return _before_proxies(peer, hops)


def _before_proxies(peer: str, hops: list[str]) -> str:
    """The last address of the chain that is no trusted proxy, as `203.0.113.9` in the chain
    `forged, 203.0.113.9, 10.0.0.2` with the peer `10.0.0.1` and the network `10.0.0.0/8`."""
    address = peer
    for hop in reversed(hops):
        # What is no address has been sent by a proxy, which then is the last one that is known.
        if not _is_proxy(address) or not _place(hop)[0]:
            break
        address = hop
    return address


@lru_cache(maxsize=1024)
def _is_proxy(text: str) -> bool:
    address = _place(text)[0]
    if not address:
        # The server of a Unix socket knows no address of its peer.
        return text in _NAMELESS and UNIX in _listed()
    return any(ipaddress.ip_address(address) in network for network in _networks())


def _listed() -> tuple[str, ...]:
    proxies = root.trusted_proxies
    return proxies if isinstance(proxies, tuple) else ()


@settings.cached
def _networks() -> tuple[Network, ...]:
    named = [text for text in _listed() if text != UNIX]
    return tuple(map(trusted_network, named))


def _report_proxy(meta: Mapping[str, Any]) -> None:
    """Log once per process if a request seems to come through a proxy that is not configured."""
    global _reported
    if _reported:
        return
    header = next((name for name in _FORWARDED if meta.get(name)), "")
    if header:
        _reported = True
        logger.warning(
            "A request has the header %s, but AUTHSERVICE['TRUSTED_PROXIES'] is 0: all clients"
            " behind a proxy share the rate limits of one address. Set it to the number of proxies"
            " in front of the server or to a list of their networks, or to None if there is no"
            " proxy.",
            _FORWARDED[header],
        )


@settings.on_change
def _forget() -> None:
    global _reported
    _reported = False
    _is_proxy.cache_clear()


@lru_cache(maxsize=1024)
def _place(text: str) -> tuple[str, str]:
    try:
        address = ipaddress.ip_address(_PORT.sub(r"\1", text))
    except ValueError:
        return "", ""
    if isinstance(address, ipaddress.IPv4Address):
        return str(address), str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped), str(address.ipv4_mapped)
    plain = ipaddress.IPv6Address(address.packed)  # without a scope id
    return str(plain), str(ipaddress.IPv6Network((plain, 64), strict=False))
