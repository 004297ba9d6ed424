"""Shapes that cross the line between HTTP, core and modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar
from uuid import UUID

from authservice.kernel.client import Client
from authservice.kernel.events import Event
from authservice.kernel.faults import Fault
from authservice.kernel.message_queue import Message
from authservice.kernel.secret import Secret

MFA = "mfa"  # RFC 8176: more than one factor was judged


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """Somebody at the door: who, from where, by which road and with which proofs.

    `method` names the road (`password`, `signup`, …), `proofs` are authentication methods of
    RFC 8176. `mfa` among them says that a second factor was judged: only who judged one adds it.
    """

    person: Any
    client: Client
    method: str
    proofs: tuple[str, ...]


@dataclass(frozen=True)
class Challenge:
    """A step that stands between a proof and the tokens."""

    type: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Lifetimes:
    """How long a sign-in may lie unused, and how long it lives however much it is used."""

    idle: timedelta
    absolute: timedelta


Filler = TypeVar("Filler")


def refuses(*faults: type[Fault]) -> Callable[[Filler], Filler]:
    """Decorates what fills `login_policy` (its class) or `request_guard`: the API description adds
    these refusals to every route that asks it."""

    def note(filler: Filler) -> Filler:
        filler.faults = faults  # type: ignore[attr-defined]
        return filler

    return note


def asks_for(header: Callable[[], str]) -> Callable[[Filler], Filler]:
    """Decorates what fills `request_guard`: the API description tells clients of this header."""

    def note(filler: Filler) -> Filler:
        filler.header = header  # type: ignore[attr-defined]
        return filler

    return note


class Identify(Protocol):
    """Slot `identify`: who a bearer token speaks for. Raises `InvalidToken` or `TokenExpired`."""

    def __call__(self, token: Secret) -> Any: ...


class LoginPolicy(Protocol):
    """Slot `login_policy`: what a login module adds to the life of sign-ins, as one object.

    Core keeps the rows, and asks. What a policy refuses stands in its `faults`, see `refuses`.
    """

    @property
    def ended(self) -> Callable[[Sequence[UUID]], None] | None:
        """Told which sign-ins have ended, once that is committed; None where nobody needs to be."""

    def checks_every_request(self) -> bool:
        """Whether the row of the sign-in is read for each request, whatever the route."""

    def lifetimes(self) -> Lifetimes:
        """Those of a sign-in that begins or goes on now."""

    def begin(self, person: Any, session: Any, client: Client, *, held: bool) -> None:
        """This sign-in is about to begin, in this transaction; `held` says that the user's row is
        locked in it already. Raises a `Fault` to refuse it."""

    def alive(self, session: Any) -> bool:
        """Whether a sign-in whose row stands may be refreshed. Raises a `Fault`."""

    def use(self, session: Any) -> bool:
        """Whether a sign-in whose row stands may be used by a request: asked once for each, at the
        end of its check. Raises a `Fault`."""


class LiveSession(Protocol):
    """What a store is told of a session; moments are as the project has them, aware or naive."""

    @property
    def id(self) -> UUID: ...

    @property
    def user_id(self) -> Any: ...

    @property
    def last_used_at(self) -> datetime: ...

    @property
    def idle_expires_at(self) -> datetime: ...

    @property
    def expires_at(self) -> datetime: ...


class SessionStore(Protocol):
    """What `SESSION.STORE` names: keeps watch over sessions beside their rows.

    The rows are in the database and read for each request, whatever the store: it can only refuse.
    Whatever it raises is answered 503 `SERVICE_UNAVAILABLE`, but logged where a request has gone
    through already: in `touch` and `end`.
    """

    def begin(self, session: LiveSession) -> None:
        """It is about to begin, in a transaction that may yet be undone."""

    def alive(self, session: LiveSession) -> bool:
        """Whether it goes on; asked at each request and each refresh, once the row has said so."""

    def touch(self, session: LiveSession, *, now: datetime, until: datetime) -> None:
        """It was used `now` and idles out at `until`; told every five minutes at most. Writes both
        into the row, if that has not ended or been used since it was read."""

    def end(self, ids: Sequence[UUID]) -> None:
        """The rows of these have ended. Told after the commit and before anybody is answered."""

    def live_for(self, person: Any) -> Sequence[Any]:
        """The rows of the person's sessions that go on, newest first."""


class LoginGate(Protocol):
    """Slot `login_gate`: a further proof to ask for, or None where those of the arrival suffice.

    Asked within the door's transaction, which also begins the sign-in if nothing is asked for.
    """

    def __call__(self, arrival: Arrival) -> Challenge | None: ...


class Claims(Protocol):
    """Slot `claims`: further claims of an access token, for a person and what a sign-in wants."""

    def __call__(self, person: Any, session: Any) -> Mapping[str, Any]: ...


class LoginExtras(Protocol):
    """Slot `login_extras`: what `data.data` of a login answer carries. The API description reads
    the TypedDict that the filler says it returns."""

    def __call__(self, person: Any) -> Mapping[str, Any]: ...


class EventListener(Protocol):
    """Slot `event_listener`: stores an event in the transaction of the action.

    If it raises, the action fails.
    """

    def __call__(self, event: Event) -> None: ...


class RequestGuard(Protocol):
    """Slot `request_guard`: raises a `Fault` for a state-changing request that must not go on; see
    `refuses`.

    `sign_in_id` names the sign-in that a cookie of ours speaks for, None where no cookie counts.
    """

    def __call__(self, request: Any, sign_in_id: UUID | None) -> None: ...


class MessageBuilders(Protocol):
    """Slot `message_builders`: for each kind of message, what builds the message of a job."""

    def __call__(self) -> Mapping[str, Callable[[Message], Any]]: ...


class RevokeUnverifiedAccess(Protocol):
    """Slot `revoke_unverified_access`: removes a module's data about a user who never proved their
    address; returns whether there was any."""

    def __call__(self, person: Any) -> bool: ...


class RevokeRecentAccess(Protocol):
    """Slot `revoke_recent_access`: removes the ways to sign in, such as linked providers, that were
    added since a given time, in the transaction of a recovery; returns whether there were any."""

    def __call__(self, person: Any, since: datetime) -> bool: ...


class RevokeRecentFactors(Protocol):
    """Slot `revoke_recent_factors`: removes the second factors that were set up since a given time;
    returns whether there were any."""

    def __call__(self, person: Any, since: datetime) -> bool: ...


class BeforeDelete(Protocol):
    """Slot `before_delete`: hands on or takes along what a module keeps for a person whom staff are
    about to delete, in the same transaction."""

    def __call__(self, person: Any) -> None: ...


class ExpiredRows(Protocol):
    """Slot `expired_rows`: rows of a module that the cleanup deletes, by name."""

    def __call__(self) -> Mapping[str, Any]: ...


class SecondFactor(Protocol):
    """Slot `second_factor`: second factors for logins that do not pass the one door, such as that
    of Django admin, and for routes that demand one."""

    def is_enabled(self, person: Any) -> bool:
        """Whether the user has a confirmed second factor."""

    def is_required(self, person: Any) -> bool:
        """Whether the settings require a second factor of this user."""

    def verify(self, person: Any, code: Secret, client: Client) -> None:
        """Count the attempt, check the code and use it up. Raises `TooManyAttempts` and
        `TwoFactorRefused`."""
