"""Flood limits: coarse counters in Django's cache, so that nobody drowns the service.

They may let a few more through than the rate says (a cache need not count atomically) and are
turned off by `THROTTLE.ENABLED`; what must hold exactly is counted in the database instead, see
`authservice.core.attempts`. A cache that is away limits nothing: it must not close the door.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from django.core.cache import caches

from authservice.kernel import conf as settings
from authservice.kernel import crypto, errors

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


def give_back(scope: str, subject: str) -> None:
    """Take one count back: the try was no abuse after all."""
    if not conf.enabled:
        return
    key = _key(scope, subject, time.time(), rate(scope).seconds)
    try:
        caches[conf.cache].decr(key)
    except ValueError:
        pass  # the window has turned over since
    except Exception:
        logger.exception("The cache that counts floods is away")


def _increment(key: str, seconds: int) -> int:
    cache = caches[conf.cache]
    try:
        if cache.add(key, 1, timeout=seconds + 1):
            return 1
        return cache.incr(key)
    except ValueError:
        return 1  # expired between the two calls
    except Exception:
        logger.exception("The cache that counts floods is away")
        return 1


def _key(scope: str, subject: str, now: float, seconds: int) -> str:
    window = int(now) // seconds
    # Addresses are personal data; a digest also fits every cache's rules for keys.
    return f"authservice:flood:{scope}:{window}:{crypto.digest('flood', subject)[:32]}"


@settings.on_change
def _forget() -> None:
    rate.cache_clear()
