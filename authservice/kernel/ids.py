"""Identifiers that sort by time of birth (UUID version 7, RFC 9562 section 5.7)."""

from __future__ import annotations

import secrets
import time
from uuid import UUID

_VERSION = 0x7 << 76
_VARIANT = 0b10 << 62


def uuid7() -> UUID:
    """48 bits of Unix milliseconds, then 74 random bits: near in an index, unguessable."""
    milliseconds = time.time_ns() // 1_000_000
    random = secrets.randbits(74)
    high, low = random >> 62, random & ((1 << 62) - 1)
    return UUID(int=milliseconds << 80 | _VERSION | high << 64 | _VARIANT | low)
