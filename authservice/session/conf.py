"""Settings of this module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from authservice.kernel.rules import NotNegative, class_with
from authservice.kernel.settings import section

# The methods of `authservice.kernel.interfaces.SessionStore`.
STORE_METHODS = ("begin", "alive", "touch", "end", "live_for")
BUILT_IN = ("database", "cache")


@dataclass(frozen=True, kw_only=True)
class Session:
    """`AUTHSERVICE["SESSION"]`. The maximum lifetime of a session is `SESSION_TTL`."""

    idle_ttl: NotNegative[timedelta] = timedelta(0)
    """How long a session stays valid without being used; 0 means `REFRESH_TOKEN_TTL`."""
    max_per_user: NotNegative[int] = 0
    """Maximum number of sessions per user: a further login ends the oldest. 0 means no limit."""
    store: Annotated[str, class_with(*STORE_METHODS, names=BUILT_IN)] = "database"
    """`"database"`, `"cache"`, or the dotted path of a class that implements
    `authservice.kernel.interfaces.SessionStore`."""
    cache: str = "default"
    """Alias of the Django cache for the store `"cache"`; all processes must share this cache."""


conf = section("SESSION", Session)
