"""The client of a request, for code outside the HTTP layer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from authservice.kernel.secret import Secret


@dataclass(frozen=True, kw_only=True)
class Client:
    """What code outside the HTTP layer may know about the client of a request.

    `address` is the client's IP address or "". `network` is the key of the flood limits: the IPv4
    address, or the /64 of an IPv6 address. `http` is the request itself, only to be passed on to
    third-party authentication backends and Django's own signals.
    """

    address: str = ""
    network: str = ""
    user_agent: str = ""
    request_id: str = ""
    device_token: Secret = field(default_factory=lambda: Secret(""))
    language: str = ""
    http: Any = None
