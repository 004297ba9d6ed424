"""Identifiers that sort by creation time (UUID version 7, RFC 9562 section 5.7)."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

_VERSION = 0x7 << 76
_VARIANT = 0b10 << 62
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def uuid7() -> UUID:
    """48 bits of Unix milliseconds, then 74 random bits: adjacent in an index, unguessable."""
    milliseconds = time.time_ns() // 1_000_000
    random = secrets.randbits(74)
    high, low = random >> 62, random & ((1 << 62) - 1)
    return UUID(int=milliseconds << 80 | _VERSION | high << 64 | _VARIANT | low)


def uuid7_of(moment: datetime) -> UUID:
    """An identifier for an aware datetime. Identifiers of different microseconds sort by time.

    Twelve of the random bits hold the fraction of the millisecond (RFC 9562 section 6.2, method 3).
    """
    return UUID(int=_floor(moment) | secrets.randbits(62))


def least(moment: datetime) -> UUID:
    """Lower bound: sorts before each `uuid7_of` of this moment or later, after all earlier ones."""
    return UUID(int=_floor(moment))


def _floor(moment: datetime) -> int:
    milliseconds, rest = divmod((moment - _EPOCH) // _MICROSECOND, 1000)
    milliseconds = min(max(milliseconds, 0), (1 << 48) - 1)
    return milliseconds << 80 | _VERSION | (rest << 12) // 1000 << 64 | _VARIANT
