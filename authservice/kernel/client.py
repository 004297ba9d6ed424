"""Who asks, as rules are told it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from authservice.kernel.secret import Secret


@dataclass(frozen=True, kw_only=True)
class Client:
    """Who is on the other end of a request, as far as rules may know.

    `address` is the client's IP address or "", `network` what flood limits count (an IPv6 address
    counts as its /64). `http` is the request itself, carried for foreign authentication backends
    and Django's own signals: rules never look inside.
    """

    address: str = ""
    network: str = ""
    user_agent: str = ""
    request_id: str = ""
    device_token: Secret = field(default_factory=lambda: Secret(""))
    language: str = ""
    http: Any = None
