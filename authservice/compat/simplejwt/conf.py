"""Settings of this module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class SimpleJwt:
    """`AUTHSERVICE["SIMPLEJWT"]`. Refresh tokens of simplejwt are traded if both times are set."""

    trade_issued_before: datetime | None = None
    """Only tokens that simplejwt issued before this time are traded: the time at which the project
    stopped issuing them."""
    trade_until: datetime | None = None
    """No token is traded after this time. `REFRESH_TOKEN_LIFETIME` of simplejwt after
    `TRADE_ISSUED_BEFORE`, all of them have expired."""
    trade_cookie: str = ""
    """Name of the cookie in which the old package keeps its refresh token, such as
    `REST_AUTH["JWT_AUTH_REFRESH_COOKIE"]`. Read by `POST /refresh` without a token in the body, if
    `COOKIES.ENABLED` is on."""


conf = section("SIMPLEJWT", SimpleJwt)
