"""The `Client` of a request: address, user agent, request id, device."""

from __future__ import annotations

import re
import uuid

from django.http import HttpRequest

from authservice.kernel import client_address, device_token, errors, languages, throttling
from authservice.kernel.client import Client
from authservice.kernel.http import cookies
from authservice.kernel.secret import Secret

DEVICE_COOKIE = "authservice_device"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_MAX_AGENT = 512  # characters; longer ones are cut
_MAX_DEVICE_TOKEN = 1024  # characters; longer ones are ignored
_OF_DEVICES = 2  # times the limit of a network, for all its clients with a device token together
# Without a negation, whose table of 65,536 characters takes 10 ms to compile.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\U00010000-\U0010ffff]")


def request_id(request: HttpRequest) -> str:
    given = request.META.get("HTTP_X_REQUEST_ID", "")
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex


def client(request: HttpRequest, request_id: str) -> Client:
    address, network = client_address.of(request.META)
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
    return client_address.of(request.META)[1]


def count_request(request: HttpRequest) -> None:
    """Count a request against the general flood limit. Raises `TooManyRequests`.

    It is counted for the network or, with a valid device token, for the account of the token, so
    that other clients behind the same address cannot use up its limit.

    The network is part of the account's key: a former user of the account still has a valid token,
    since the key is found without the database, and must not use up the limit of the owner. The
    device is not: each login issues a token for a new one, so an attacker who logs in to their own
    account repeatedly would get a new limit each time. An attacker with many accounts gets three
    times the limit of the network, the part of clients without a token included.
    """
    own = network(request)
    token = device_token.read(_device_token(request))
    if not token:
        throttling.count("default", own)
        return
    throttling.count("default", f"account {token.user} {own}")
    try:
        throttling.count("default", f"devices {own}", times=_OF_DEVICES)
    except errors.TooManyRequests:
        throttling.count("default", own)
