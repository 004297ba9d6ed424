"""Types that the HTTP layer, core and the modules share: data classes and slot signatures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest

from authservice.kernel.client import Client
from authservice.kernel.events import Event
from authservice.kernel.faults import Fault
from authservice.kernel.link_pages import LinkPages as LinkPages
from authservice.kernel.message_queue import Message
from authservice.kernel.person import Person
from authservice.kernel.secret import Secret

MFA = "mfa"  # RFC 8176: more than one factor was verified


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """A login at the one door: the user, the client, the way to sign in and its proofs.

    `method` names the way to sign in (`password`, `signup`, …). `proofs` are authentication methods
    of RFC 8176 (claim `amr`). `mfa` among them states that a second factor was verified: only the
    code that verified it may add `mfa`.
    """

    person: Any  # the class in core/users/person.py, which the kernel does not import
    client: Client
    method: str
    proofs: tuple[str, ...]


@dataclass(frozen=True)
class Challenge:
    """A further step that the client must pass before it gets tokens."""

    type: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Lifetimes:
    """Lifetimes of a session: `idle` without use, `absolute` even if it is used."""

    idle: timedelta
    absolute: timedelta


Filler = TypeVar("Filler")


def refuses(*faults: type[Fault]) -> Callable[[Filler], Filler]:
    """Decorator for a filler of `login_policy` (its class) or `request_guard`: declares the errors
    it raises. The API description adds them to every route that calls the filler."""

    def note(filler: Filler) -> Filler:
        filler.faults = faults  # type: ignore[attr-defined]
        return filler

    return note


def asks_for(header: Callable[[], str]) -> Callable[[Filler], Filler]:
    """Decorator for a filler of `request_guard`: declares the request header it requires, for the
    API description."""

    def note(filler: Filler) -> Filler:
        filler.header = header  # type: ignore[attr-defined]
        return filler

    return note


class LoginPolicy(Protocol):
    """Slot `login_policy`: an object with the rules that a login module adds to sessions.

    Core owns the rows and calls the policy. A policy declares its errors with `refuses`.
    """

    @property
    def ended(self) -> Callable[[Sequence[UUID]], None] | None:
        """A function that receives the ids of ended sessions after commit, or None if the policy
        does not need them."""

    def checks_every_request(self) -> bool:
        """Whether every request reads the row of the session, regardless of the route."""

    def lifetimes(self) -> Lifetimes:
        """Lifetimes of a session that is created or refreshed now."""

    def begin(self, person: Person, session: LiveSession, client: Client) -> None:
        """Called in the transaction that creates the session, before its row is inserted. Raises a
        `Fault` to refuse the session."""

    def alive(self, session: LiveSession) -> bool:
        """Whether a session with a valid row may be refreshed. May raise a `Fault`."""

    def use(self, session: LiveSession) -> bool:
        """Whether a request may use a session with a valid row. Called once per request, as the
        last check. May raise a `Fault`."""


class LiveSession(Protocol):
    """A session as a store sees it. Datetimes are aware or naive according to `USE_TZ`."""

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
    """The class that `SESSION.STORE` names: a second source that can end sessions.

    The rows are in the database and every request reads them, regardless of the store, so a store
    can only refuse sessions. An exception of a store is answered with 503 `SERVICE_UNAVAILABLE`,
    except in `touch` and `end`: they run after the request succeeded, so it is only logged.
    """

    def begin(self, session: LiveSession) -> None:
        """Called before the session is created, in a transaction that may still be rolled back."""

    def alive(self, session: LiveSession) -> bool:
        """Whether the session is valid. Called on each request and refresh whose row is valid."""

    def touch(self, session: LiveSession, *, now: datetime, until: datetime) -> None:
        """The session was used at `now` and expires at `until` unless it is used again. Called at
        most every five minutes per session. Writes both times to the row, unless the session has
        ended or was used since the row was read."""

    def end(self, ids: Sequence[UUID]) -> None:
        """These sessions have ended. Called after commit, before the response is sent."""

    def live_for(self, person: Person) -> Sequence[Any]:
        """The rows of the user's valid sessions, newest first."""


class LoginGate(Protocol):
    """Slot `login_gate`: returns a challenge, or None if the proofs of the arrival are sufficient.

    Called in the transaction of the one door, which also creates the session if there is no
    challenge.
    """

    def __call__(self, arrival: Arrival) -> Challenge | None: ...


class GateColumns(Protocol):
    """Slot `gate_columns`: look-ups from the user model that a login with a password reads with the
    user, for the gate. `arrival.person.gate_values` has them by name; in other logins, it is empty.
    """

    def __call__(self) -> Sequence[str]: ...


class Claims(Protocol):
    """Slot `claims`: additional claims of an access token, for a user and a session."""

    def __call__(self, person: Person, session: LiveSession) -> Mapping[str, Any]: ...


class LoginExtras(Protocol):
    """Slot `login_extras`: fields of `data.data` in a login response. The API description reads
    them from the TypedDict in the filler's return annotation.

    `kept` is the session that a signed-in client keeps, or None if the session is new.
    """

    def __call__(self, person: Person, kept: LiveSession | None) -> Mapping[str, Any]: ...


class EventListener(Protocol):
    """Slot `event_listener`: stores an event in the transaction of the action.

    If it raises, the action fails. A listener with a method `listens(action)` is called only if
    that returns True, one with a method `many(events)` in one call for a batch, such as that of an
    import. Core runs what a method `statements(events)` returns (`kernel/sql.py: Bound`) together
    with the statements of a login, and does not call that listener for the events of the login.
    """

    def __call__(self, event: Event) -> None: ...


class RequestGuard(Protocol):
    """Slot `request_guard`: raises a `Fault` to refuse a state-changing request, such as a forged
    one; see `refuses`.

    `session_id` is the session that a token cookie identifies, or None if no cookie identifies the
    caller.
    """

    def __call__(self, request: HttpRequest, session_id: UUID | None) -> None: ...


class TrustedOrigins(Protocol):
    """Slot `trusted_origins`: the origins whose scripts may call the API, written as in the
    header `Origin`."""

    def __call__(self) -> Collection[str]: ...


class MessageBuilders(Protocol):
    """Slot `message_builders`: for each kind of message, a function that builds it from its job."""

    def __call__(self) -> Mapping[str, Callable[[Message], Any]]: ...


class ChosenSessionStore(Protocol):
    """Slot `chosen_session_store`: the dotted path of a `SessionStore` that the settings of the
    module name, or ""."""

    def __call__(self) -> str: ...


class ExpiredRows(Protocol):
    """Slot `expired_rows`: returns querysets of the rows that the cleanup deletes, by name."""

    def __call__(self) -> Mapping[str, QuerySet[Any]]: ...


class SecondFactor(Protocol):
    """Slot `second_factor`: second factors for logins that do not use the one door, such as that
    of Django admin, and for routes that require one."""

    def is_enabled(self, person: Person) -> bool:
        """Whether the user has a confirmed second factor."""

    def is_required(self, person: Person) -> bool:
        """Whether the settings require a second factor of this user."""

    def verify(self, person: Person, code: Secret, client: Client) -> None:
        """Count the attempt, check the code and mark it as used. Raises `TooManyAttempts` and
        `TwoFactorRefused`."""
