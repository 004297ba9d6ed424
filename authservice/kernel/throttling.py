"""Flood limits: approximate counters in Django's cache that limit the number of requests.

They may allow slightly more requests than the rate (a cache need not count atomically), and
`THROTTLE.ENABLED` turns them off. Exact limits are counted in the database instead, see
`authservice.core.credentials.attempt_counter`. If the cache is not available, requests are not
limited, so that users can still log in. A cache that fails slowly must not delay every request:
after a failure it is not used for a few seconds.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import Annotated, NamedTuple

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache

from authservice.kernel import clock, errors, secret, settings
from authservice.kernel.rules import CacheAlias, Rule, one_of

logger = logging.getLogger("authservice.flood")

RATES: Mapping[str, str] = {
    "default": "600/min",
    "signup": "20/h",
    "refresh": "60/min",
    "guess": "100/15min",
    "is-available": "30/min",
    "auto-register": "20/h",
    "oauth-native": "20/min",
    "description": "120/min",
    "org-create": "20/h",
}
_UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
_RATE = re.compile(r"([1-9]\d*)/([1-9]\d*)?(s|min|h|d)")
_Scope = Annotated[str, one_of(RATES)]
_Rate = Annotated[str, Rule("a rate such as '20/h' or '100/15min'", _RATE.fullmatch)]
# How long the cache is not used after a failure, in seconds.
PAUSE = 5.0


class Rate(NamedTuple):
    limit: int
    seconds: int


def parse(text: str) -> Rate:
    """Parse a rate such as `"100/15min"`; units are s, min, h, d. Raises ValueError."""
    match = _RATE.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a rate such as '20/h' or '100/15min'")
    limit, units, unit = match.groups()
    return Rate(int(limit), int(units or 1) * _UNITS[unit])


@dataclass(frozen=True, kw_only=True)
class Throttle:
    """`AUTHSERVICE["THROTTLE"]`."""

    enabled: bool = True
    """Whether rate limits and limits on messages apply. Limits on attempts per identifier or code
    always apply."""
    rates: dict[_Scope, _Rate] = field(default_factory=dict)
    """Overrides of the default rates, such as `{"signup": "5/min", "guess": "100/15min"}`."""
    cache: CacheAlias = "default"
    """Alias of the Django cache that stores the counters."""


conf = settings.section("THROTTLE", Throttle)


@settings.cached
def rate(scope: str) -> Rate:
    return parse(conf.rates.get(scope, RATES[scope]))


def count(scope: str, subject: str, *, times: int = 1) -> None:
    """Count one request of `subject` in `scope`. Raises `TooManyRequests` above `times` the
    rate."""
    if not conf.enabled:
        return
    limit, seconds = rate(scope)

    def add(cache: BaseCache, key: str) -> int:
        return 1 if cache.add(key, 1, timeout=seconds + 1) else cache.incr(key)

    if _change(scope, subject, add, default=1) > limit * times:
        wait = seconds - int(clock.timestamp()) % seconds
        raise errors.TooManyRequests(headers={"Retry-After": str(wait)})


def refund(scope: str, subject: str) -> None:
    """Take one count back: the request turned out not to be abuse."""
    if not conf.enabled:
        return
    _change(scope, subject, lambda cache, key: cache.decr(key), default=0)


def _change(
    scope: str, subject: str, change: Callable[[BaseCache, str], int], *, default: int
) -> int:
    """The result of `change`, which is called with the key of the current window; `default` if the
    key has expired or the cache is not available."""
    if _breaker.is_open and not _breaker.allows():
        return default
    window = int(clock.timestamp()) // rate(scope).seconds
    # A digest, since IP addresses are personal data and every cache accepts it as a key.
    key = f"authservice:flood:{scope}:{window}:{secret.digest('flood', subject)[:32]}"
    try:
        result = change(caches[conf.cache], key)
    except ValueError:  # the key does not exist: its window is over
        result = default
    except Exception:
        _breaker.open()
        logger.exception("The cache of the flood limits failed; it is not used for %d s", PAUSE)
        return default
    if _breaker.is_open:
        _breaker.close()
    return result


class _Breaker:
    """A circuit breaker: requests do not wait for a cache that has failed.

    After the pause one request uses the cache again; until it succeeds, the others skip the cache.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._skipped_until = 0.0
        self.is_open = False

    def allows(self) -> bool:
        """Whether this request may use the cache although the breaker is open."""
        with self._lock:
            now = monotonic()
            if self.is_open and now < self._skipped_until:
                return False
            self._skipped_until = now + PAUSE
            return True

    def open(self) -> None:
        with self._lock:
            self._skipped_until = monotonic() + PAUSE
            self.is_open = True

    def close(self) -> None:
        self.is_open = False


_breaker = _Breaker()


@settings.on_change
def _close_breaker() -> None:
    _breaker.close()
