"""The `Client` of a request: address, user agent, request id, device."""

from __future__ import annotations

import ipaddress
import logging
import re
import uuid
from functools import lru_cache

from django.http import HttpRequest

from authservice.kernel import device_token, languages, settings
from authservice.kernel.client import Client
from authservice.kernel.http import cookies
from authservice.kernel.secret import Secret
from authservice.kernel.sections import root

logger = logging.getLogger("authservice.request")

DEVICE_COOKIE = "authservice_device"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_MAX_AGENT = 512  # characters; longer ones are cut
_MAX_DEVICE_TOKEN = 1024  # characters; longer ones are ignored
_MAX_ADDRESS = 64
# Some proxies also write the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
_PORT = re.compile(r"^(?:\[)?((?<=\[)[0-9A-Fa-f:.]+(?=\])|[0-9.]+)(?:\])?(?::\d+)?$")
# Headers in which proxies forward the client's address.
_FORWARDED = {"HTTP_X_FORWARDED_FOR": "X-Forwarded-For", "HTTP_FORWARDED": "Forwarded"}
_reported = False
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\xa0-\uffff]")


def request_id(request: HttpRequest) -> str:
    given = request.META.get("HTTP_X_REQUEST_ID", "")
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex


def client(request: HttpRequest, request_id: str) -> Client:
    address, network = _place(_claimed(request))
    meta = request.META  # `request.headers` would parse every header of the request
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
    """The same for a page outside the API, such as one of Django admin."""
    return client(request, request_id(request))


def network(request: HttpRequest) -> str:
    """The key of the flood limits: the client's IPv4 address or IPv6 /64."""
    return _place(_claimed(request))[1]


def flood_subject(request: HttpRequest) -> str:
    """The key of the general flood limit: the network, together with the account of the device
    token if it is valid, so that other clients behind the same address cannot use up its limit.

    The network is part of it: a former user of the account still has a valid token, since the key
    is found without the database, and must not use up the limit of the owner. The device is not:
    each login issues a token for a new one, so an attacker who logs in to their own account
    repeatedly would get a new limit each time.
    """
    token = device_token.read(_device_token(request))
    return f"account {token.user} {network(request)}" if token else network(request)


def _claimed(request: HttpRequest) -> str:
    """The client's address as the trusted proxies report it.

    Each proxy appends the address of its peer to the header, so entries are counted from the right.
    A client can forge only those further left.
    """
    peer: str = request.META.get("REMOTE_ADDR") or ""
    proxies = root.trusted_proxies
    if not proxies:
        if proxies == 0:
            _report_proxy(request)
        return peer
    hops = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    # Cut, because `_place` caches its argument; no valid address is longer.
    return hops[-proxies][:_MAX_ADDRESS] if len(hops) >= proxies and hops[-proxies] else peer


def _report_proxy(request: HttpRequest) -> None:
    """Log once per process if a request seems to come through a proxy that is not configured."""
    global _reported
    if _reported:
        return
    header = next((name for name in _FORWARDED if request.META.get(name)), "")
    if header:
        _reported = True
        logger.warning(
            "A request has the header %s, but AUTHSERVICE['TRUSTED_PROXIES'] is 0: all clients"
            " behind a proxy share the rate limits of one address. Set it to the number of proxies"
            " in front of the server, or to None if there is no proxy.",
            _FORWARDED[header],
        )


@settings.on_change
def _forget() -> None:
    global _reported
    _reported = False


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
