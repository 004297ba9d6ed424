"""Settings of this module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class Session:
    """`AUTHSERVICE["SESSION"]`. How long a session lives at most is `SESSION_TTL`."""

    idle_ttl: timedelta = timedelta(0)
    """How long a session may lie unused; 0 means as a refresh token, `REFRESH_TOKEN_TTL`."""
    max_per_user: int = 0
    """How many sessions a user may have: a further one ends the oldest. 0 means any number."""
    store: str = "database"
    """`"database"`, `"cache"`, or the dotted path of a class that is a
    `authservice.kernel.interfaces.SessionStore`."""
    cache: str = "default"
    """Alias of the Django cache of the store `"cache"`; one that all processes share."""


conf = section("SESSION", Session)
