"""What a request says about its client: address (also behind proxies that the project trusts, see
`TRUSTED_PROXIES`), user agent, request id, device, the origin of the page that sends the request,
and the spelling of the path.

A page cannot forge `Origin` or `Sec-Fetch-Site` (the Fetch standard forbids scripts to set them).
Browsers send `Sec-Fetch-*` only by https and to localhost.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest

from authservice.kernel import errors, languages, settings, throttling
from authservice.kernel.client import Client, DeviceToken
from authservice.kernel.http import cookies
from authservice.kernel.interfaces import RequestGuard
from authservice.kernel.modules import plugs
from authservice.kernel.origins import normal
from authservice.kernel.secret import Secret
from authservice.kernel.sections import UNIX, Network, mount, root, trusted_network

logger = logging.getLogger("authservice.request")

# The name of the request attribute with the challenge of a permission that asks for another proof.
CHALLENGE = "_authservice_challenge"
DEVICE_COOKIE = "authservice_device"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_MAX_AGENT = 512  # characters; longer ones are cut
_MAX_DEVICE_TOKEN = 1024  # characters; longer ones are ignored
_OF_DEVICES = 2  # times the limit of a network, for all its clients with a device token together
# Not written as a negated set: compiling its table of 65,536 characters takes 10 ms.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\U00010000-\U0010ffff]")
_MAX_ADDRESS = 64  # characters
# Some proxies also write the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
_PORT = re.compile(r"^(?:\[)?((?<=\[)[0-9A-Fa-f:.]+(?=\])|[0-9.]+)(?:\])?(?::\d+)?$")
# Headers in which proxies forward the client's address.
_FORWARDED = {"HTTP_X_FORWARDED_FOR": "X-Forwarded-For", "HTTP_FORWARDED": "Forwarded"}
# Values of `REMOTE_ADDR` for the peer of a Unix socket, which has no address.
_NAMELESS = ("", "unix:")
_reported = False


def request_id(request: HttpRequest) -> str:
    header = request.META.get("HTTP_X_REQUEST_ID", "")
    return header if _REQUEST_ID.fullmatch(header) else os.urandom(16).hex()


def client(request: HttpRequest, request_id: str) -> Client:
    meta = request.META  # `request.headers` would parse every header of the request
    address, network = address_of(meta)
    return Client(
        address=address,
        network=network,
        user_agent=_UNPRINTABLE.sub("", meta.get("HTTP_USER_AGENT", ""))[:_MAX_AGENT],
        request_id=request_id,
        device_token=_device_token(request),
        language=languages.requested(request),
        http=request,
    )


def _device_token(request: HttpRequest) -> Secret:
    token: str = request.META.get("HTTP_X_DEVICE_TOKEN") or cookies.get(request, DEVICE_COOKIE)
    return Secret(token if len(token) <= _MAX_DEVICE_TOKEN else "")


def of_page(request: HttpRequest) -> Client:
    """The client of a request to a page outside the API, such as one of Django admin."""
    return client(request, request_id(request))


def network(request: HttpRequest) -> str:
    """The key of the flood limits: the client's IPv4 address or IPv6 /64."""
    return address_of(request.META)[1]


def count_request(request: HttpRequest) -> None:
    """Count a request against the general flood limit. Raises `TooManyRequests`.

    The request is counted for the network or, with a valid device token, for the account of the
    token, so that other clients behind the same address cannot use up the limit of the account.

    The network is part of the account's key: a former user of the account still has a valid token,
    since the token is checked without the database, and must not use up the limit of the owner. The
    device is not part of the key: each login issues a token for a new device, so an attacker who
    logs in to their own account repeatedly would get a new limit each time. An attacker with many
    accounts gets three times the limit of the network: twice with tokens, and once without.
    """
    network_key = address_of(request.META)[1]
    token = DeviceToken.read(_device_token(request))
    if not token:
        throttling.count("default", network_key)
        return
    throttling.count("default", f"account {token.user} {network_key}")
    try:
        throttling.count("default", f"devices {network_key}", times=_OF_DEVICES)
    except errors.TooManyRequests:
        # Beyond the limit of devices, the client has the limit of clients without a token.
        throttling.count("default", network_key)


def address_of(meta: Mapping[str, Any]) -> tuple[str, str]:
    """The client's IP address, as the trusted proxies report it, and the key of the flood limits:
    the same IPv4 address, or the /64 of an IPv6 address. Both are "" if the address is unknown.
    `meta` is `META` of a request.

    Each proxy appends the address of its peer to the header, so entries are read from the right.
    A client can forge only the entries to the left of those that the proxies append.
    """
    address: str = meta.get("REMOTE_ADDR") or ""
    proxies = root.trusted_proxies
    # 0 and `None` both trust no proxy; `None` states that there is none, so nothing is reported.
    if not proxies:
        if proxies is not None and not _reported:
            _report_proxy(meta)
        return _place(address)
    # Cut, because `_place` caches its argument; no valid address is longer.
    hops = [hop.strip()[:_MAX_ADDRESS] for hop in meta.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    if isinstance(proxies, int):
        return _place(hops[-proxies] if len(hops) >= proxies and hops[-proxies] else address)
    # The last address of the chain that is no trusted proxy, as `203.0.113.9` in the chain
    # `forged, 203.0.113.9, 10.0.0.2` with the peer `10.0.0.1` and the network `10.0.0.0/8`.
    for hop in reversed(hops):
        # An entry that is no address was sent by the proxy before it, the last address we know.
        if not _is_proxy(address) or not _place(hop)[0]:
            break
        address = hop
    return _place(address)


@lru_cache(maxsize=1024)
def _is_proxy(text: str) -> bool:
    proxies = root.trusted_proxies
    entries: tuple[str, ...] = proxies if isinstance(proxies, tuple) else ()
    address = _place(text)[0]
    if not address:
        # The server of a Unix socket knows no address of its peer.
        return text in _NAMELESS and UNIX in entries
    return any(ipaddress.ip_address(address) in network for network in _networks(entries))


@settings.cached
def _networks(listed: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(trusted_network(text) for text in listed if text != UNIX)


def _report_proxy(meta: Mapping[str, Any]) -> None:
    """Log once per process if a request seems to come through a proxy that is not configured."""
    global _reported
    for name, header in _FORWARDED.items():
        if meta.get(name):
            _reported = True
            logger.warning(
                "A request has the header %s, but AUTHSERVICE['TRUSTED_PROXIES'] is 0: all clients"
                " behind a proxy share the rate limits of one address. Set it to the number of"
                " proxies in front of the server or to a list of their networks, or to None if"
                " there is no proxy.",
                header,
            )
            return


@settings.on_change
def _forget() -> None:
    global _reported
    _reported = False
    _is_proxy.cache_clear()


@lru_cache(maxsize=1024)
def _place(text: str) -> tuple[str, str]:
    """The address and the key of the flood limits, as `address_of` returns them."""
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


def is_escaped(request: HttpRequest) -> bool:
    """Whether the path below the mount, as the client sent it, has a percent sign.

    No route needs one, and rules of a proxy for a path would not apply to another spelling of it,
    such as `/logi%6e`. Servers decode the path before Django gets it. Servers that do not pass on
    the original path, such as `runserver`, stand behind no proxy.
    """
    scope = getattr(request, "scope", None)
    if scope is not None:
        sent = (scope.get("raw_path") or b"").decode("latin-1")
    else:
        # Gunicorn sets the first one; uWSGI, mod_wsgi and waitress set the second one.
        sent = request.META.get("RAW_URI") or request.META.get("REQUEST_URI") or ""
    sent = sent.partition("?")[0]
    if "%" not in sent and "%" not in request.path:
        return False
    below = request.path.removeprefix(unquote(mount()))
    # Of the sent path, only as many segments as `below` has: a proxy may have changed the path
    # before them, and the mount itself may need escapes.
    return "%" in below or "%" in "".join(sent.split("/")[-below.count("/") - 1 :])
