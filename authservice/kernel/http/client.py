"""The `Client` of a request: address, agent, request id, device."""

from __future__ import annotations

import ipaddress
import re
import uuid
from functools import lru_cache

from django.http import HttpRequest
from django.utils.translation import get_language

from authservice.kernel.client import Client
from authservice.kernel.http import cookies
from authservice.kernel.settings import root

DEVICE_COOKIE = "authservice_device"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_AGENT = 512
# Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
_PORT = re.compile(r"^(?:\[)?((?<=\[)[0-9A-Fa-f:.]+(?=\])|[0-9.]+)(?:\])?(?::\d+)?$")
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
        device_token=meta.get("HTTP_X_DEVICE_TOKEN") or cookies.get(request, DEVICE_COOKIE),
        language=get_language() or "",
        http=request,
    )


def of_page(request: HttpRequest) -> Client:
    """The same for a page that is none of ours, such as one of Django admin."""
    return client(request, request_id(request))


def network(request: HttpRequest) -> str:
    """What flood limits count: the IPv4 address or the IPv6 /64 of the client."""
    return _place(_claimed(request))[1]


def _claimed(request: HttpRequest) -> str:
    """The address to believe: each trusted proxy appends whom it saw, so count from the right."""
    peer: str = request.META.get("REMOTE_ADDR") or ""
    proxies = root.trusted_proxies
    if not proxies:
        return peer
    hops = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    return hops[-proxies] if len(hops) >= proxies and hops[-proxies] else peer


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
