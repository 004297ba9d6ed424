"""Settings of second factors."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Literal

from authservice.kernel.client import DeviceToken
from authservice.kernel.rules import Rule, between
from authservice.kernel.settings import section

# Authenticator apps cut the name at a colon.
_Issuer = Annotated[str, Rule("a name without a colon", lambda name: ":" not in name)]
_REMEMBER_TTL = between(timedelta(0), DeviceToken.TTL, f"0 to {DeviceToken.TTL.days} days")


@dataclass(frozen=True, kw_only=True)
class TwoFactor:
    """`AUTHSERVICE["TWOFACTOR"]`."""

    issuer: _Issuer = ""
    """Name of the service in authenticator apps. If empty, the host of `FRONTEND.URL` or `API_URL`,
    or `authservice` if that is `localhost` or an IP address."""
    required: Literal["nobody", "super_admins", "staff", "everybody"] = "nobody"
    """Users who get no tokens without a second factor, and must set one up to log in. `"staff"` are
    all users with `is_staff` and all super admins; where the user model has no `is_staff`, super
    admins only."""
    remember_ttl: Annotated[timedelta, _REMEMBER_TTL] = timedelta(0)
    """How long a remembered device needs no code; 0 turns this off. Super admins for whom a second
    factor is required, and all users of `"staff"`, need a code at each login."""


conf = section("TWOFACTOR", TwoFactor)
