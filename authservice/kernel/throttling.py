"""Flood limits: coarse counters in Django's cache against throttle_scopes of requests.

They may let a few more through than the rate says (a cache need not count atomically) and are
turned off by `THROTTLE.ENABLED`; exact limits are counted in the database instead, see
`authservice.core.credentials.attempt_counter`. If the cache is not available, nothing is limited,
so that users can still log in. Nor may a slow failure delay every request: after a failure the
cache is not used for a few seconds.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from time import monotonic
from typing import NamedTuple

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache

from authservice.kernel import crypto, errors, settings

logger = logging.getLogger("authservice.flood")

RATES: Mapping[str, str] = {
    "default": "600/min",
    "signup": "20/h",
    "refresh": "60/min",
    "guess": "100/15min",
    "is-available": "30/min",
    "auto-register": "20/h",
}
_UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
# Seconds for which a cache that failed is not used.
PAUSE = 5.0


@dataclass(frozen=True, kw_only=True)
class Throttle:
    """`AUTHSERVICE["THROTTLE"]`."""

    enabled: bool = True
    """Flood limits and resend pauses. Guess limits on an identifier or code stay on."""
    rates: dict[str, str] = field(default_factory=dict)
    """Overrides of the table, such as `{"signup": "5/min", "guess": "100/15min"}`."""
    cache: str = "default"
    """Alias of the Django cache that counts."""


conf = settings.section("THROTTLE", Throttle)


class Rate(NamedTuple):
    limit: int
    seconds: int


def parse(text: str) -> Rate:
    """`"100/15min"` as a Rate; units are s, min, h, d. Raises ValueError."""
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)?(s|min|h|d)", text)
    if not found:
        raise ValueError(f"{text!r} is not a rate such as '20/h' or '100/15min'")
    limit, many, unit = found.groups()
    return Rate(int(limit), int(many or 1) * _UNITS[unit])


@cache
def rate(scope: str) -> Rate:
    return parse(conf.rates.get(scope, RATES[scope]))


def count(scope: str, subject: str) -> None:
    """Count one more of `scope` for `subject`. Raises `TooManyRequests` past the rate."""
    if not conf.enabled:
        return
    limit, seconds = rate(scope)
    now = time.time()
    seen = _increment(_key(scope, subject, now, seconds), seconds)
    if seen > limit:
        wait = seconds - int(now) % seconds
        raise errors.TooManyRequests(headers={"Retry-After": str(wait)})


def refund(scope: str, subject: str) -> None:
    """Take one count back: the try was no abuse after all."""
    if not conf.enabled:
        return
    key = _key(scope, subject, time.time(), rate(scope).seconds)
    _ask(lambda cache: cache.decr(key))


def _increment(key: str, seconds: int) -> int:
    return _ask(
        lambda cache: 1 if cache.add(key, 1, timeout=seconds + 1) else cache.incr(key), default=1
    )


def _ask(question: Callable[[BaseCache], int], *, default: int = 0) -> int:
    """The answer of the cache; `default` if the key has expired or the cache is not available."""
    if not _breaker.allows():
        return default
    try:
        answer = question(caches[conf.cache])
    except ValueError:  # there is no such key: its window is over
        answer = default
    except Exception:
        _breaker.open()
        logger.exception("The cache of the flood limits failed; it is not used for %d s", PAUSE)
        return default
    _breaker.close()
    return answer


class _Breaker:
    """A circuit breaker: requests do not wait for a cache that failed.

    After the pause one request tries it again; until that succeeds the others continue without it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._skipped_until: float | None = None  # None: the cache works

    def allows(self) -> bool:
        if self._skipped_until is None:
            return True
        with self._lock:
            now = monotonic()
            if self._skipped_until is not None and now < self._skipped_until:
                return False
            self._skipped_until = now + PAUSE
            return True

    def open(self) -> None:
        with self._lock:
            self._skipped_until = monotonic() + PAUSE

    def close(self) -> None:
        self._skipped_until = None


_breaker = _Breaker()


def _key(scope: str, subject: str, now: float, seconds: int) -> str:
    window = int(now) // seconds
    # Addresses are personal data; a digest also fits every cache's rules for keys.
    return f"authservice:flood:{scope}:{window}:{crypto.digest('flood', subject)[:32]}"


@settings.on_change
def _forget() -> None:
    rate.cache_clear()
    _breaker.close()
