"""Levels of proof: how surely a session is that of its user, and since when.

    aal1  a password, a mailed link or a provider
    aal2  two factors, such as a password and a code of an app
    phr   a passkey that verified its user: resists phishing
    phrh  the same in attested hardware

The names are values of the claim `acr`: the last two are of OpenID Connect EAP ACR Values 1.0, the
first two the levels of NIST SP 800-63B-4. A level includes those below it.

They are in the kernel because base classes of modules name them (`interfaces.SecondFactor`), not
only the logins of core.

A session stores the last moment of each level. A proof changes the moment of its own level only, so
a password that is entered again never makes an older proof by two factors count as a new one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

Level = Literal["aal1", "aal2", "phr", "phrh"]
# Asked for in place of a level: two factors of a user who has a second one, otherwise any proof.
OWN: Literal["own"] = "own"
ORDER: tuple[Level, ...] = ("aal1", "aal2", "phr", "phrh")

# Authentication methods of RFC 8176. `user` is stored only for a key that verified its user, never
# for one that only noticed that somebody is there.
MFA = "mfa"
CODE = "otp"
KEY = "pop"
HARDWARE_KEY = "hwk"
VERIFIED = "user"
# Nobody logged in: the session continues one of another package. It proves nothing.
LEGACY = "legacy"

# The strongest level whose proofs are all among those of a login; every other login is `aal1`.
_TABLE: tuple[tuple[Level, frozenset[str]], ...] = (
    ("phrh", frozenset({HARDWARE_KEY, VERIFIED})),
    ("phr", frozenset({KEY, VERIFIED})),
    ("aal2", frozenset({MFA})),
)
# Begins the entry of a record that has the time of the last withdrawn proof.
_WITHDRAWN = "- "
# Authentication methods of a second factor.
_SECOND = frozenset({MFA, CODE, KEY, HARDWARE_KEY, VERIFIED})


def of(proofs: Collection[str]) -> Level | None:
    """The level that these authentication methods prove together; None for `legacy`, and if there
    are no methods."""
    if not proofs or LEGACY in proofs:
        return None
    return next((level for level, needed in _TABLE if needed <= set(proofs)), "aal1")


def includes(level: Level, needed: Level) -> bool:
    """Whether a proof of `level` is enough where `needed` is asked for."""
    return ORDER.index(level) >= ORDER.index(needed)


@dataclass(frozen=True)
class Event:
    """A proof of a level: when, and by which authentication methods."""

    level: Level
    at: datetime
    proofs: tuple[str, ...]


class Record:
    """The levels that a session has proven, as the text in its row: `level seconds methods` of each
    event, such as `aal1 1764300000.123456 pwd;aal2 1764300100.5 pwd,otp,mfa`; and `- seconds` of
    the last proof that was withdrawn.

    It is kept as text and parsed only when needed: every request reads it, and few use its levels.
    """

    LENGTH = 255

    def __init__(self, text: str = "") -> None:
        self.text = text

    @staticmethod
    def of_login(proofs: Collection[str], at: datetime) -> Record:
        """The record of a session that begins. A login with two factors proves its first one too,
        which is what stays if the second is removed."""
        first = tuple(proof for proof in proofs if proof not in _SECOND)
        proven = (first, tuple(proofs))
        events = {level: Event(level, at, methods) for methods in proven if (level := of(methods))}
        return _written(events)

    def __iter__(self) -> Iterator[Event]:
        for part in filter(None, self.text.split(";")):
            if part.startswith(_WITHDRAWN):
                continue
            level, seconds, proofs = part.split(" ")
            yield Event(by_name(level), _moment(seconds), tuple(proofs.split(",")))

    def with_event(self, proofs: Iterable[str], at: datetime) -> Record:
        """The record after a proof at this time (aware); unchanged if it proves nothing."""
        proofs = tuple(proofs)
        level = of(proofs)
        if level is None:
            return self
        events = {event.level: event for event in self}
        return _written({**events, level: Event(level, at, proofs)}, self.withdrawn)

    def without(self, *proofs: str) -> Record:
        """The record without the events that rest on one of these authentication methods."""
        remaining = {event.level: event for event in self if not set(proofs) & set(event.proofs)}
        withdrawn = [event.at for event in self if event.level not in remaining]
        if self.withdrawn is not None:
            withdrawn.append(self.withdrawn)
        return _written(remaining, max(withdrawn, default=None))

    @property
    def withdrawn(self) -> datetime | None:
        """When the last of the proofs that do not count any more was given (aware). A step-up still
        needs this moment: the challenge that the proof answered must not be answered again."""
        parts = (part for part in self.text.split(";") if part.startswith(_WITHDRAWN))
        return next((_moment(part.removeprefix(_WITHDRAWN)) for part in parts), None)

    @property
    def strongest(self) -> Event | None:
        return max(self, key=lambda event: ORDER.index(event.level), default=None)

    @property
    def first(self) -> tuple[str, ...]:
        """The authentication methods of the first factor; empty if none was proven alone. A code
        that was proven alone is no first factor: together with another code it would still be one
        factor."""
        alone = (event.proofs for event in self if event.level == "aal1")
        return next((proofs for proofs in alone if not _SECOND.issuperset(proofs)), ())

    def last(self, level: Level) -> datetime | None:
        """When this level, or one above it, was proven last (aware)."""
        enough = ORDER[ORDER.index(level) :]
        return max((event.at for event in self if event.level in enough), default=None)

    def proves(self, level: Level, *, now: datetime, within: timedelta | None = None) -> bool:
        """Whether this level, or one above it, was proven; if `within` is given, in that time."""
        last = self.last(level)
        return last is not None and (within is None or now - last <= within)


def _written(events: Mapping[Level, Event], withdrawn: datetime | None = None) -> Record:
    parts = [
        f"{event.level} {event.at.timestamp():.6f} {','.join(event.proofs)}"
        for event in (events[level] for level in ORDER if level in events)
    ]
    if withdrawn is not None:
        parts.append(f"{_WITHDRAWN}{withdrawn.timestamp():.6f}")
    return Record(";".join(parts))


def by_name(text: str) -> Level:
    """The level with this name, for the type checker; `text` must be one of `ORDER`."""
    return next(level for level in ORDER if level == text)


def _moment(seconds: str) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)
