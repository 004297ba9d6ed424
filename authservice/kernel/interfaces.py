"""Types that the HTTP layer, core and the modules share: data classes and base classes of slots.

In slots, `person` is a user as `Person` describes it; the class is in `core/users/person.py`, which
the kernel does not import. `Page` is the part of a list that a client asks for. Slots that the
kernel itself calls have their base classes beside the callers: events, messages, pages of links.
That of the support page is in `support_parts.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest

from authservice.kernel.client import Client
from authservice.kernel.errors import Fault, InvalidRefreshToken
from authservice.kernel.levels import MFA as MFA  # projects import it from here
from authservice.kernel.levels import Level
from authservice.kernel.message_queue import Message
from authservice.kernel.modules import Slot
from authservice.kernel.secret import Secret
from authservice.kernel.sections import root
from authservice.kernel.sql import Bound


class Person(Protocol):
    """A user of the host project with our account; `core/users/person.py` has the class.

    `user` is the row of the host's own model, whichever it is.
    """

    @property
    def user(self) -> Any: ...

    @property
    def id(self) -> str: ...

    @property
    def email(self) -> str: ...

    @property
    def username(self) -> str: ...

    @property
    def active(self) -> bool: ...

    @property
    def email_verified(self) -> bool: ...

    @property
    def is_super_admin(self) -> bool: ...


@dataclass(frozen=True)
class Page:
    """The requested part of a list and its sort order."""

    offset: int
    limit: int
    sort_field: str
    sort_dir: str

    def order(self, column: str = "", *, tie: str = "pk") -> tuple[str, ...]:
        """Arguments for `order_by`. `column` is the lookup of `sort_field`, if it has another name.
        Ties are ordered by `tie` in the same direction, so that pages never overlap and one index
        serves both columns."""
        sign = "-" if self.sort_dir == "desc" else ""
        return f"{sign}{column or self.sort_field}", f"{sign}{tie}"

    def cut(self, rows: Any) -> Any:
        return rows[self.offset : self.offset + self.limit]

    def total(self, rows: Sized, count: Callable[[], int]) -> int:
        """How many rows all pages have; counts only if the `rows` of this page do not tell."""
        # An empty page does not tell: its `offset` may be far beyond the last row.
        if len(rows) < self.limit and (len(rows) or not self.offset):
            return self.offset + len(rows)
        return count()


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """A login: the user, the client, the way to sign in and its proofs.

    `method` names the way to sign in (`password`, `signup`, …). `proofs` are authentication methods
    of RFC 8176 (claim `amr`). `mfa` among them states that a second factor was verified: only the
    code that verified it may add `mfa`. `pending` is what this login stores when it is complete, as
    JSON values: a challenge keeps it, and passes it to `AccountAccess.complete` at the end.
    """

    person: Any  # the class in core/users/person.py, which the kernel does not import
    client: Client
    method: str
    proofs: tuple[str, ...]
    pending: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Challenge:
    """A further step that the client must pass before it gets tokens."""

    type: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """A proof that was examined and is not used up yet: `proofs` are what it adds to the
    authentication methods. `use` is called in the transaction that relies on it, and returns False
    if the factor was removed or the proof was used since."""

    proofs: tuple[str, ...]
    use: Callable[[], bool]


@dataclass(frozen=True)
class Along:
    """An UPDATE that is made if and only if a code is used. `then` is called in the same
    transaction after both."""

    update: Bound
    then: Callable[[], None]


@dataclass(frozen=True)
class Lifetimes:
    """Lifetimes of a session: `idle` without use, `absolute` even if it is used."""

    idle: timedelta
    absolute: timedelta


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

    The rows are in the database whatever the store is. So a store can refuse a session that its
    row allows, and never allow another one. An exception of a store is answered with 503
    `SERVICE_UNAVAILABLE`, except in `touch` and `end`: these run after the request succeeded, so an
    exception is only logged.
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


class LoginPolicy(Slot):
    """Slot `login_policy`: the rules that a login module adds to sessions.

    The service owns the rows of sessions and calls the policy.
    """

    slot = "login_policy"

    faults: tuple[type[Fault], ...] = ()
    """The errors that it raises: the API description adds them to every route that calls it."""

    @property
    def ended(self) -> Callable[[Sequence[UUID]], None] | None:
        """A function that receives the ids of ended sessions after commit, or None if the policy
        does not need them."""
        return None

    def checks_every_request(self) -> bool:
        """Whether every request reads the row of the session, regardless of the route."""
        return True

    def lifetimes(self) -> Lifetimes:
        """Lifetimes of a session that is created or refreshed now."""
        return Lifetimes(root.refresh_token_ttl, root.session_ttl)

    def begin(self, person: Any, session: LiveSession, client: Client) -> None:
        """Called in the transaction that creates the session, before its row is inserted. Raises a
        `Fault` to refuse the session."""

    def alive(self, session: LiveSession) -> bool:
        """Whether a session with a valid row may be refreshed. May raise a `Fault`."""
        return True

    def use(self, session: LiveSession) -> bool:
        """Whether a request may use a session with a valid row. Called once per request, as the
        last check. May raise a `Fault`."""
        return True

    def use_without_token(self, session: LiveSession) -> bool:
        """Like `use`, for a session that Django's session carries: there is no token that expires
        and no refresh, so this checks the expiry of the session and moves its idle timeout."""
        raise NotImplementedError


@dataclass(frozen=True)
class Reach:
    """The strongest level that a user can prove by a second factor, and since when, if a session
    could set the factor up without a recent proof: an intruder could do so in a stolen session, so
    a step-up in that session must not accept the factor."""

    level: Level
    unproven_since: datetime | None = None


class SecondFactor(Slot):
    """Slot `second_factor`: a further proof after the first, such as a code.

    `ask` and `is_enabled` must be overridden: with a default, a misspelled name would let every
    login pass. Servers run no system checks. `method` is the name of the factor in the field
    `methods` of a challenge: "code" is that of `authservice.twofactor`, and each factor needs its
    own (`authservice.E009`). `level` is the level that users who have the factor prove by it.
    """

    slot = "second_factor"

    method: str = "code"
    level: Level = "aal2"

    label: Any = ""
    """What users call the factor: the account pages list a factor of the project by this name, or
    by its `method` if it has none."""

    faults: tuple[type[Fault], ...] = ()
    """The errors that `examine` raises: the API description adds them to every route that takes its
    `credential` in answer to a challenge."""

    def columns(self) -> Sequence[str]:
        """Look-ups from the user model that a login with a password reads with the user, for `ask`.
        `arrival.person.gate_values` has them by name; in other logins, it is empty."""
        return ()

    def ask(self, arrival: Arrival) -> Challenge | None:
        """A challenge, or None if the proofs of the arrival are sufficient. Called by each login
        but that of Django admin, in the transaction that also creates the session if there is no
        challenge."""
        raise NotImplementedError

    def is_enabled(self, person: Any) -> bool:
        """Whether the user has a confirmed second factor."""
        raise NotImplementedError

    def is_required(self, person: Any) -> bool:
        """Whether the settings require a second factor of this user."""
        return False

    def reaches(self, person: Any) -> Reach | None:
        """What the user can prove by this factor now; None without one."""
        return Reach(self.level) if self.is_enabled(person) else None

    def options(self, person: Any, temp_token: Secret, level: Level = "aal2") -> Mapping[str, Any]:
        """Further fields in the data of a challenge that this factor can answer, such as the
        options of a passkey. They may be bound to the `temp_token` of the challenge. `level` is
        what the answer must prove."""
        return {}

    def examine(
        self, person: Any, credential: Mapping[str, Any], temp_token: Secret, client: Client
    ) -> Evidence:
        """Check the `credential` with which a client answers `options`. Raises a `Fault` with the
        status 401 to refuse it."""
        raise NotImplementedError

    def verify(self, person: Any, code: Secret, client: Client, along: Along | None = None) -> None:
        """Count the attempt, check the code and mark it as used, together with the change `along`.
        Called for users who have the factor enabled, by the login of Django admin, by a step-up,
        and by routes that require the factor. Raises `TooManyAttempts`, `TwoFactorRefused`, and
        `InvalidToken` if `along` changes no row."""
        raise NotImplementedError

    def revoke(self, person: Any, since: datetime | None) -> bool:
        """Remove the factors that were set up since a given time, or all of them; returns whether
        there were any. A recovery through the link "this was not me" passes a time, the first proof
        of an address passes None; each calls it in its transaction."""
        return False


class SessionData(Slot):
    """Slot `session_data`: what a module adds to sessions, their access tokens and logins."""

    slot = "session_data"

    def claims(self, person: Any, session: Any) -> Mapping[str, Any]:
        """Additional claims of an access token, for a user and a session. Called when a token is
        issued, after `CORE.CLAIMS_HOOK`. They replace no claim of the service."""
        return {}

    def extras(self, person: Any, current_session: Any) -> Mapping[str, Any]:
        """Fields of `data.data` in a login response. The API description reads them from the
        TypedDict in the return annotation. Called after the commit. `current_session` is the
        session that a signed-in client keeps, or None if the session is new."""
        return {}

    def withholds_refresh(self) -> bool:
        """Whether a signed-in client that continues its session gets no refresh token unless it
        sends its current one, so that a stolen access token is never worth a refresh token. It is
        enough if one module returns true."""
        return False


class AccountAccess(Slot):
    """Slot `account_access`: the ways to sign in that a module adds. Most of its methods are called
    in recoveries.

    The transaction of a recovery has locked the user.
    """

    slot = "account_access"

    faults: tuple[type[Fault], ...] = ()
    """The errors that `complete` raises: the API description adds them to the route that answers a
    challenge."""

    def first_proof(self, person: Any) -> bool:
        """Delete the module's data of a user whose address was never proven before; returns whether
        there was any. Called at the first proof of an address."""
        return False

    def recover(self, person: Any, since: datetime) -> bool:
        """Remove the ways to sign in, such as linked providers, that were added since a given time;
        returns whether there were any. Called at a password reset by e-mail, and when an owner uses
        the link "this was not me"."""
        return False

    def restore(self, person: Any, since: datetime) -> None:
        """Restore the ways to sign in that were removed since a given time. Called when an owner
        uses the link "this was not me", after `recover`."""

    def complete(self, person: Any, client: Client, pending: Mapping[str, Any]) -> None:
        """Store what a login left pending when it was challenged, such as a new link to a provider.
        Called in the transaction of the login that has answered the challenge, with the user as
        they are now. Raises one of `faults` if it must not be stored any more, or `InvalidToken` if
        the user must begin again. Then nothing is stored, and the answer counts as no attempt."""

    def distrust(self, person: Any) -> bool:
        """Make ways to sign in that were set up before the first proof of the address count as
        added now, so that a recovery removes them; returns whether there were any. Called when a
        verification link proves an address, unless the browser or a session of the sign-up opened
        it."""
        return False

    def can_log_in(self, person: Any) -> bool:
        """Whether the user can log in by this module now, without a password. Called before the
        last other way to log in is removed."""
        return False

    def is_set_up(self, person: Any) -> bool:
        """Whether the user has data of this module by which a client can log in, now or after a
        change of the settings. Then a first proof of the address removes them (`first_proof`)."""
        return False

    def before_deletion(self, email_key: str) -> None:
        """Forget what rows of other users have of the user with this address, who is about to be
        deleted. Called within the deletion, in whatever way the user is deleted."""

    def rebind(self, email_key: str, stale: Collection[str], fresh: str) -> None:
        """Store the fingerprint `fresh` of a password hash in the rows of this address that have
        one of the fingerprints `stale`. Called when a login stores a better hash of the same
        password."""


class ForeignTokens(Slot):
    """Slot `foreign_tokens`: the refresh tokens of another package, which are traded for sessions
    so that a project can move without new logins."""

    slot = "foreign_tokens"

    @property
    def cookie(self) -> str:
        """The name of the cookie in which the package keeps the token, or ""."""
        return ""

    def trade(self, text: Secret, client: Client) -> Any:
        """Trade a token for a session, once; returns the tokens of the session
        (`authservice.core.sessions.sessions.Tokens`). Called by a refresh, with a token that the
        service did not issue. Raises `InvalidRefreshToken`, also for a token that the package did
        not issue."""
        raise InvalidRefreshToken

    def exist(self, person: Any) -> bool:
        """Whether the package has tokens of this user that a client could trade."""
        return False

    def revoke(self, users: Collection[Any] | None, before: datetime | None) -> None:
        """Revoke the tokens that the users with these primary keys could trade, or those of all
        users; with `before` only those issued earlier. Called in the transaction that ends all
        sessions of a user, or all but one."""


class RequestGuard(Slot):
    """Slot `request_guard`: refuses requests that change something and that a page of another site
    may have sent. `check` must be overridden: a guard makes the service accept token cookies."""

    slot = "request_guard"

    faults: tuple[type[Fault], ...] = ()
    """The errors that it raises: the API description adds them to every route that calls it."""

    def check(self, request: HttpRequest, session_id: UUID | None, *, bearer: bool) -> None:
        """Raises a `Fault` to refuse the request. `session_id` is the session that a token cookie
        identifies, or None if no cookie identifies the caller. `bearer` says that a bearer token
        alone identifies the caller."""
        raise NotImplementedError

    def trusts(self, origin: str) -> bool:
        """Whether scripts of this origin, as in the header `Origin`, may call the API. Asked when
        tokens are in cookies and a magic link or a WebSocket is opened."""
        return False

    def header(self) -> str:
        """The request header that it requires, for the API description; "" if none."""
        return ""

    def required_of_all(self) -> bool:
        """Whether clients without cookies must send the header too."""
        return True


class MessageBuilders(Protocol):
    """Slot `message_builders`: for each kind of message, a function that builds it from its job."""

    def __call__(self) -> Mapping[str, Callable[[Message], Any]]: ...


class ExpiredRows(Protocol):
    """Slot `expired_rows`: returns querysets of the rows that the cleanup deletes, by name."""

    def __call__(self) -> Mapping[str, QuerySet[Any]]: ...
