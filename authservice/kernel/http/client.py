"""The `Client` of a request: address, agent, request id, device."""

from __future__ import annotations

import ipaddress
import logging
import re
import uuid
from functools import lru_cache

from django.http import HttpRequest
from django.utils.translation import get_language

from authservice.kernel import device_token, settings
from authservice.kernel.client import Client
from authservice.kernel.http import cookies
from authservice.kernel.secret import Secret
from authservice.kernel.sections import root

logger = logging.getLogger("authservice.request")

DEVICE_COOKIE = "authservice_device"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_AGENT = 512
_DEVICE_TOKEN = 1024
_ADDRESS = 64
# Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
_PORT = re.compile(r"^(?:\[)?((?<=\[)[0-9A-Fa-f:.]+(?=\])|[0-9.]+)(?:\])?(?::\d+)?$")
# Headers in which proxies pass on the client's address.
_FORWARDED = {"HTTP_X_FORWARDED_FOR": "X-Forwarded-For", "HTTP_FORWARDED": "Forwarded"}
_reported = False
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\xa0-\uffff]")


def request_id(request: HttpRequest) -> str:
    given = request.META.get("HTTP_X_REQUEST_ID", "")
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex


def client(request: HttpRequest, request_id: str) -> Client:
    address, network = _place(_claimed(request))
    meta = request.META  # `request.headers` would parse every header there is
    return Client(
        address=address,
        network=network,
        user_agent=_UNPRINTABLE.sub("", meta.get("HTTP_USER_AGENT", ""))[:_AGENT],
        request_id=request_id,
        device_token=_device_token(request),
        language=get_language() or "",
        http=request,
    )


def _device_token(request: HttpRequest) -> Secret:
    token: str = request.META.get("HTTP_X_DEVICE_TOKEN") or cookies.get(request, DEVICE_COOKIE)
    return Secret(token if len(token) <= _DEVICE_TOKEN else "")


def of_page(request: HttpRequest) -> Client:
    """The same for a page that is none of ours, such as one of Django admin."""
    return client(request, request_id(request))


def network(request: HttpRequest) -> str:
    """What flood limits count: the IPv4 address or the IPv6 /64 of the client."""
    return _place(_claimed(request))[1]


def flood_subject(request: HttpRequest) -> str:
    """The key of the general flood limit: the account that signed in on the client's device, so
    that others behind the same address cannot use up its limit; otherwise the network.

    Not the device: each login issues the token of another device, so an attacker who often signs in
    to their own account would get a new limit each time.
    """
    known = device_token.read(_device_token(request))
    return f"account {known.user}" if known else network(request)


def _claimed(request: HttpRequest) -> str:
    """The address to believe: each trusted proxy appends whom it saw, so count from the right."""
    peer: str = request.META.get("REMOTE_ADDR") or ""
    proxies = root.trusted_proxies
    if not proxies:
        if proxies == 0:
            _report_proxy(request)
        return peer
    hops = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    # Cut, since the function below caches its argument; no address is longer.
    return hops[-proxies][:_ADDRESS] if len(hops) >= proxies and hops[-proxies] else peer


def _report_proxy(request: HttpRequest) -> None:
    """Log once per process that requests seem to come through a proxy that is not configured."""
    global _reported
    if _reported:
        return
    found = next((name for name in _FORWARDED if request.META.get(name)), "")
    if found:
        _reported = True
        logger.warning(
            "A request has the header %s, and AUTHSERVICE['TRUSTED_PROXIES'] is 0: all clients of a"
            " proxy share the rate limits of one address. Set it to the number of proxies in front,"
            " or to None if there is none.",
            _FORWARDED[found],
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
