"""The time, read once for a unit of work: a request, a job of the worker, one call of a rule.

Within a unit every time that is stored or compared is the same. With two readings, a row that a
request has just stored is older than the request itself, and a rule that looks for earlier rows
finds it. Outside of a unit each call of `now` reads the clock, so a command or a loop that runs for
hours never uses an old time: it opens a unit for each of its items if it needs one.

A reading belongs to the context (`contextvars`): threads and tasks of asyncio have their own, and
the end of a unit restores the one before it. A request keeps its reading while it waits, such as
for a hash or a row lock. It still sees what other requests have stored in the meantime: rows decide
the order of requests, never their readings, which differ as the clocks of two servers do. But a
credential must not expire while the request that spends it waits: statements that spend one compare
its expiry with `by_now`.

`uuid7` makes identifiers that sort by this time (UUID version 7, RFC 9562 section 5.7).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import wraps
from itertools import count
from time import monotonic
from typing import ParamSpec, TypeVar
from uuid import UUID

from django.conf import settings

P = ParamSpec("P")
R = TypeVar("R")

# If the body of a request takes longer to arrive, `complete` reads the clock again.
_PROMPT = 1.0  # seconds


@dataclass(frozen=True, slots=True)
class Reading:
    """`at` is aware, in UTC; `began` is the monotonic time of the reading; `numbers` order the rows
    that are stored with this one time."""

    at: datetime
    began: float
    numbers: Iterator[int] = field(default_factory=count, compare=False)


_current: ContextVar[Reading | None] = ContextVar("authservice_clock", default=None)


# `now`, `utc`, `timestamp`, `by_now` and `uuid7` repeat the body of `reading`: each of them runs
# many times in a login, and a call costs time.
def now() -> datetime:
    """The time for columns of the database: as `timezone.now()`, aware if `USE_TZ` is true, else
    in the local time of the process, as Python interprets naive times."""
    moment = (_current.get() or _read()).at
    return moment if settings.USE_TZ else datetime.fromtimestamp(moment.timestamp())


def stored(moment: datetime) -> datetime:
    """A moment in the form of `now`; a naive one is in the local time of the process."""
    at = moment.timestamp()
    return datetime.fromtimestamp(at, UTC) if settings.USE_TZ else datetime.fromtimestamp(at)


def utc() -> datetime:
    """The time as an aware datetime in UTC, whatever `USE_TZ` says."""
    return (_current.get() or _read()).at


def timestamp() -> float:
    """The time in seconds since 1970."""
    return (_current.get() or _read()).at.timestamp()


def number() -> int:
    """0, 1, 2 ... for rows of one unit that are listed in the order in which they were stored."""
    return next(reading().numbers)


def by_now() -> datetime:
    """As `now`, plus the time that has passed since the reading, such as in waits for locks. Only
    for the statement that spends a credential, which compares its expiry."""
    current = _current.get() or _read()
    return stored(current.at + timedelta(seconds=monotonic() - current.began))


class unit:  # noqa: N801  used like a function; a generator would cost twice as many calls
    """A context: a unit of work with a new reading, or with the reading `of` another unit."""

    def __init__(self, of: Reading | None = None) -> None:
        self._of = of

    def __enter__(self) -> None:
        self._token = _current.set(self._of or _read())

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)


def once(rule: Callable[P, R]) -> Callable[P, R]:
    """Decorator for a rule that reads the time more than once: a call outside of a unit is a
    unit of its own."""

    @wraps(rule)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if _current.get() is not None:
            return rule(*args, **kwargs)
        with unit():
            return rule(*args, **kwargs)

    return call


def complete() -> None:
    """The body of the request has arrived. If that took long, the unit reads the clock again: a
    client that sends its body slowly must not use credentials that have expired meanwhile."""
    current = _current.get()
    if current is not None and monotonic() - current.began > _PROMPT:
        _current.set(_read())


def reading() -> Reading:
    """The reading of the current unit; a new one outside of a unit."""
    return _current.get() or _read()


def _read() -> Reading:
    """The only function that reads the wall clock."""
    return Reading(datetime.now(UTC), monotonic())


_UUID_VERSION = 0x7 << 76
_UUID_VARIANT = 0b10 << 62
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MICROSECOND = timedelta(microseconds=1)


def uuid7() -> UUID:
    """48 bits of Unix milliseconds, then 74 random bits: adjacent in an index, unguessable."""
    milliseconds = ((_current.get() or _read()).at - _EPOCH) // _MILLISECOND
    random = secrets.randbits(74)
    high, low = random >> 62, random & ((1 << 62) - 1)
    return UUID(int=milliseconds << 80 | _UUID_VERSION | high << 64 | _UUID_VARIANT | low)


def uuid7_of(moment: datetime, number: int = 0) -> UUID:
    """An identifier for an aware datetime. Identifiers sort by time; those of the same microsecond
    sort by `number`, up to 1023.

    Twelve of the random bits hold the fraction of the millisecond, the next ten the number (RFC
    9562 section 6.2, methods 3 and 1).
    """
    return UUID(int=_floor(moment) | min(number, 1023) << 52 | secrets.randbits(52))


def least_uuid7(moment: datetime) -> UUID:
    """Lower bound: sorts before each `uuid7_of` of this moment or later, after all earlier ones."""
    return UUID(int=_floor(moment))


def _floor(moment: datetime) -> int:
    """The lowest identifier of the moment. A moment that does not fit into 48 bits of milliseconds
    since 1970 has that of the nearest one that does."""
    milliseconds, microseconds = divmod((moment - _EPOCH) // _MICROSECOND, 1000)
    milliseconds = min(max(milliseconds, 0), (1 << 48) - 1)
    fraction = microseconds * 4096 // 1000  # of the millisecond, in twelve bits
    return (milliseconds << 80) | _UUID_VERSION | (fraction << 64) | _UUID_VARIANT
