"""Settings of this module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class TwoFactor:
    """`AUTHSERVICE["TWOFACTOR"]`."""

    issuer: str = ""
    """Name of the service in authenticator apps. If empty, the host of `FRONTEND.URL` or `API_URL`,
    or `authservice` if that is `localhost` or an IP address."""
    required: Literal["nobody", "super_admins", "everybody"] = "nobody"
    """Users who get no tokens without a second factor, and must set one up to log in."""
    remember_ttl: timedelta = timedelta(0)
    """How long a remembered device needs no code; 0 turns this off. Super admins for whom a second
    factor is required need a code at each login."""


conf = section("TWOFACTOR", TwoFactor)
