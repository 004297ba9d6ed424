"""Identifiers that sort by creation time (UUID version 7, RFC 9562 section 5.7)."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from uuid import UUID

from authservice.kernel import clock

_VERSION = 0x7 << 76
_VARIANT = 0b10 << 62
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MICROSECOND = timedelta(microseconds=1)


def uuid7() -> UUID:
    """48 bits of Unix milliseconds, then 74 random bits: adjacent in an index, unguessable."""
    milliseconds = (clock.utc() - _EPOCH) // _MILLISECOND
    random = secrets.randbits(74)
    high, low = random >> 62, random & ((1 << 62) - 1)
    return UUID(int=milliseconds << 80 | _VERSION | high << 64 | _VARIANT | low)


def uuid7_of(moment: datetime, number: int = 0) -> UUID:
    """An identifier for an aware datetime. Identifiers sort by time; those of the same microsecond
    sort by `number`, up to 1023.

    Twelve of the random bits hold the fraction of the millisecond, the next ten the number (RFC
    9562 section 6.2, methods 3 and 1).
    """
    return UUID(int=_floor(moment) | min(number, 1023) << 52 | secrets.randbits(52))


def least(moment: datetime) -> UUID:
    """Lower bound: sorts before each `uuid7_of` of this moment or later, after all earlier ones."""
    return UUID(int=_floor(moment))


def _floor(moment: datetime) -> int:
    """The lowest identifier of the moment. A moment that does not fit into 48 bits of milliseconds
    since 1970 has that of the nearest one that does."""
    milliseconds, microseconds = divmod((moment - _EPOCH) // _MICROSECOND, 1000)
    milliseconds = min(max(milliseconds, 0), (1 << 48) - 1)
    return milliseconds << 80 | _VERSION | (microseconds << 12) // 1000 << 64 | _VARIANT
