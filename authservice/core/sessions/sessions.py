"""Starts, reads, checks and ends sessions. A session starts with a login (`core.login.login`), or
continues a session of another package (`core.login.foreign_tokens`)."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from authservice.core.credentials import passwords
from authservice.core.models import Account, Session
from authservice.core.tokens import signing
from authservice.core.users import person as people
from authservice.core.users.person import Person, refresh_copies
from authservice.kernel import clock, databases, errors
from authservice.kernel.client import Client
from authservice.kernel.interfaces import ForeignTokens, LiveSession, LoginPolicy
from authservice.kernel.levels import Record
from authservice.kernel.modules import plug, plugs
from authservice.kernel.secret import Secret
from authservice.kernel.sql import Bound, Insert, Select, Update, param, updating

# Reasons for which sessions end, stored in `end_reason`.
LOGOUT, REUSE, RESET, CHANGED = "logout", "reuse", "password reset", "password changed"
MOVED = "e-mail changed"
# End reasons that do not make the client suspect: its own logout, and "limit" of the session
# module. A session that ended otherwise, such as by a reset, may have been an attacker's.
TRUSTED_ENDS = (LOGOUT, "limit", "")


@dataclass(frozen=True)
class Tokens:
    """`expires_in` is the lifetime of the access token in seconds. `refresh_token` is empty if the
    client continues its session and must use the one that it has."""

    access_token: Secret
    refresh_token: Secret
    expires_in: int


def _fields(*names: str) -> tuple[str, ...]:
    """The names in the order of the model's fields, which `from_db` requires."""
    return tuple(f.attname for f in Session._meta.concrete_fields if f.attname in names)


class Used(NamedTuple):
    """The columns of a session that an authenticated request needs, in the order of the model's
    fields."""

    id: uuid.UUID
    user_id: Any
    password_fingerprint: str
    token_version: int
    factor_version: int
    levels: str
    organization_id: uuid.UUID | None
    last_used_at: datetime
    idle_expires_at: datetime
    expires_at: datetime
    ended_at: datetime | None


_REFRESH_ONLY = ("seed", "counter", "amr", "auth_time", "refreshed_at")
_USED = _fields(*Used._fields)
# A refresh needs more columns. Fields that are not in the query are deferred: read on access.
_REFRESHED = _fields(*Used._fields, *_REFRESH_ONLY)


def _by_id(fields: tuple[str, ...]) -> Select:
    def build() -> QuerySet[Any, Any]:
        columns = people.columns(user="user__", account="user__authservice_account__")
        rows = Session.objects.filter(pk=param("id", Session)).order_by()
        return rows.values_list(*columns, *fields)

    return Select(build)


_FINDERS: dict[tuple[str, ...], Select] = {fields: _by_id(fields) for fields in (_USED, _REFRESHED)}
_INSERT = Insert(lambda: Session)
_TOUCH_INTERVAL = timedelta(minutes=5)


def _unchanged_since_read() -> QuerySet[Session]:
    return Session.objects.filter(
        pk=param("id", Session),
        ended_at=None,
        last_used_at=param("seen", Session, "last_used_at"),
    )


# If several concurrent requests have read the same `last_used_at`, only one of them updates it.
_TOUCH = Update(
    _unchanged_since_read,
    lambda: {
        "last_used_at": param("now", Session, "last_used_at"),
        "idle_expires_at": param("until", Session, "idle_expires_at"),
    },
)


def policy() -> LoginPolicy:
    """The login policy: lifetimes and limits of sessions, as the installed login module sets them.
    The default login module is the stateless one."""
    return cast(LoginPolicy, plug(LoginPolicy))


def find_for_request(session_id: uuid.UUID) -> tuple[Person, Used] | None:
    """The session and its user with the columns that a request needs, in one query."""
    using = databases.primary()
    row = _FINDERS[_USED].first(using, id=session_id)
    if row is None:
        return None
    return people.read(row, using), Used(*row[-len(_USED) :])


def find_for_refresh(session_id: uuid.UUID) -> tuple[Person, Session] | None:
    """The session and its user with the columns that a refresh needs, in one query."""
    using = databases.primary()
    row = _FINDERS[_REFRESHED].first(using, id=session_id)
    if row is None:
        return None
    return people.read(row, using), Session.from_db(using, _REFRESHED, row[-len(_REFRESHED) :])


def as_model(used: Used) -> Session:
    """The row of a request as a model instance; the other fields are deferred."""
    return Session.from_db(databases.primary(), _USED, used)


def is_valid(person: Person, session: Session | Used) -> bool:
    """Whether the session is valid: it has not ended, its user is active, and password and versions
    are those of the login.

    Expiry is not checked here. The fingerprint of the password hash detects every change of the
    password, also by host code, in a shell or by SQL.
    """
    return (
        session.ended_at is None
        and person.active
        and session.token_version == person.token_version
        and session.factor_version == person.factor_version
        and passwords.matches_fingerprint(session.password_fingerprint, person.password)
    )


def was_revoked(session_id: str) -> bool:
    """Whether this session ended for a reason that makes its client suspect."""
    rows = Session.objects.filter(pk=session_id).exclude(ended_at=None)
    return rows.exclude(end_reason__in=TRUSTED_ENDS).exists()


def idle_to_renew(session: LiveSession) -> timedelta | None:
    """The idle timeout to start again for a session that is used now. None if the session was used
    less than 5 minutes ago or, if that is shorter, less than a quarter of the idle timeout ago. So
    a session may end earlier than it should, by at most a quarter of the timeout."""
    idle = policy().lifetimes().idle
    unused_for = clock.now() - session.last_used_at
    return idle if unused_for >= min(_TOUCH_INTERVAL, idle / 4) else None


def touch(session: LiveSession, *, now: datetime, until: datetime) -> None:
    """Store that the session was used at `now`, and that it expires at `until` unless it is used
    again. Writes nothing if the session has ended or was used since the row was read."""
    _TOUCH.run(databases.primary(), id=session.id, seen=session.last_used_at, now=now, until=until)


def active_sessions(person: Person) -> QuerySet[Session]:
    """The valid, unexpired sessions of an active user."""
    now = clock.now()
    return Session.objects.filter(
        user=person.user.pk,
        ended_at=None,
        idle_expires_at__gt=now,
        expires_at__gt=now,
        token_version=person.token_version,
        factor_version=person.factor_version,
        password_fingerprint__in=passwords.fingerprints(person.password),
    )


@clock.once
def begin(
    person: Person,
    client: Client,
    *,
    amr: str,
    device_id: uuid.UUID,
    method: str = "",
    session_id: uuid.UUID | None = None,
    auth_time: datetime | None = None,
) -> Session:
    """Create a session, which the caller stores by `insertion` in the same transaction; `amr` are
    the authentication methods (RFC 8176), separated by spaces.

    `session_id` and `auth_time` are for a session that another package began; by default a new id
    and now. Raises the errors of the login policy.
    """
    now = clock.now()
    login_policy = policy()
    lifetimes = login_policy.lifetimes()
    session = Session(
        id=session_id or clock.uuid7(),
        user_id=person.user.pk,
        seed=secrets.token_hex(16),
        password_fingerprint=passwords.fingerprint(person.password),
        token_version=person.token_version,
        factor_version=person.factor_version,
        amr=amr,
        levels=Record.of_login(amr.split(), clock.utc()).text,
        method=method,
        auth_time=auth_time or now,
        device_id=device_id,
        user_agent=client.user_agent,
        ip_address=client.address,
        created_at=now,
        refreshed_at=now,
        last_used_at=now,
        idle_expires_at=now + lifetimes.idle,
        expires_at=now + lifetimes.absolute,
    )
    login_policy.begin(person, session, client)
    return session


def insertion(session: Session) -> Bound:
    """The statement that stores a session of `begin`."""
    return _INSERT.bound(databases.primary(), session)


def issue_tokens(person: Person, session: Session) -> Tokens:
    """A new access token and the current refresh token of the session."""
    access_token, seconds = signing.issue_access_token(person, session)
    refresh_token = signing.derive_refresh_token(session.pk, session.counter, session.seed)
    return Tokens(access_token, refresh_token, seconds)


@contextmanager
def changing(person: Person, session: Session, *other_keys: Any) -> Iterator[Person]:
    """A transaction in which a signed-in user changes something; yields the current user.

    Every state-changing route of a signed-in user runs in it. It locks the user's row, and those of
    `other_keys` (primary keys of users who are changed too), in the order of their keys. Under that
    lock it checks again that the session is valid: a request that was authenticated before a
    password reset, a logout or a suspension must not change anything after it. Raises
    `InvalidToken`.
    """
    using = databases.primary()
    with transaction.atomic(using=using):
        locked = passwords.lock_users({person.user.pk, *other_keys})
        person_and_session = find_for_request(session.pk)
        if (
            person.user.pk not in locked
            or person_and_session is None
            or not is_valid(*person_and_session)
        ):
            raise errors.InvalidToken
        yield refresh_copies(person_and_session[0])


def rebind_password(person: Person, session: Session) -> None:
    """Keep one session valid after a change of the password: store the new fingerprint."""
    Session.objects.filter(pk=session.pk).update(
        password_fingerprint=passwords.fingerprint(person.user.password)
    )


@clock.once
def proof_statement(session: Session, before: str, proofs: tuple[str, ...]) -> Bound:
    """The UPDATE which stores that the user of this session proved a level just now.

    It changes no row if the session has ended or its levels are no longer those that were read
    (`before`): another proof was stored, or a factor was removed. `session` gets the new values.

    The statement itself checks that the versions are still those of the login. Locking the row of
    the user instead could deadlock: the factor that was checked is already locked, and other
    transactions lock the user first.
    """
    record = Record(before).with_event(proofs, clock.utc())
    versions = {name: OuterRef(name) for name in ("token_version", "factor_version")}
    unchanged = Exists(Account.objects.filter(pk=OuterRef("user_id"), **versions))
    return _storing_levels(Session.objects.filter(unchanged), session, before, record)


@databases.inside_transaction
def withdraw_proofs(person: Person, *proofs: str) -> None:
    """Take the levels that depend on one of these authentication methods from every live session
    of the user. Call it after the factor of these methods was removed, in the same transaction."""
    live = Session.objects.filter(user=person.user.pk, ended_at=None)
    for session in live.order_by("pk").select_for_update():
        record = Record(session.levels).without(*proofs)
        if record.text != session.levels:
            _storing_levels(Session.objects.all(), session, session.levels, record).run()


def _storing_levels(
    rows: QuerySet[Session], session: Session, before: str, record: Record
) -> Bound:
    strongest = record.strongest
    session.levels = record.text
    session.amr = " ".join(strongest.proofs) if strongest else ""
    if strongest is not None:
        at = strongest.at
        session.auth_time = at if settings.USE_TZ else datetime.fromtimestamp(at.timestamp())
    values = {"levels": session.levels, "amr": session.amr, "auth_time": session.auth_time}
    return updating(rows.filter(pk=session.pk, ended_at=None, levels=before), **values)


def end(session_id: uuid.UUID, reason: str) -> bool:
    """End one session and all its tokens; False if it had ended already."""
    ended = bool(_end(Session.objects.filter(pk=session_id), reason))
    _notify_policy([session_id] if ended else [])
    return ended


def end_queryset(chosen: QuerySet[Session], reason: str) -> int:
    """End the sessions of the queryset that have not ended; returns how many."""
    if policy().ended is None:
        return _end(chosen, reason)
    with transaction.atomic(using=databases.primary()):
        remaining = chosen.filter(ended_at=None).order_by("pk").select_for_update()
        ids = list(remaining.values_list("pk", flat=True))
        ended = _end(Session.objects.filter(pk__in=ids), reason)
        _notify_policy(ids)
    return ended


def end_begun_with(user_id: Any, method: str, current_session: Session | None, reason: str) -> int:
    """End the sessions of the user that began with this way to sign in, except `current_session`;
    returns how many."""
    rows = Session.objects.filter(user=user_id, method=method)
    return end_queryset(rows.exclude(pk=current_session.pk) if current_session else rows, reason)


def end_others(person: Person, current_session: Session | None, reason: str) -> int:
    """End all sessions of the user except `current_session`, if there is one; returns how many."""
    revoke_foreign_tokens([person.user.pk])
    rows = Session.objects.filter(user=person.user.pk)
    return end_queryset(rows.exclude(pk=current_session.pk) if current_session else rows, reason)


@databases.inside_transaction
def end_without_factor(person: Person, current_session: Session | None, reason: str) -> None:
    """End all sessions but `current_session` after a second factor was enabled.

    A concurrent login that read the account before this commit asks for no code. Its session stores
    the version that it read, and is therefore not valid. The caller holds the lock of the user's
    row.
    """
    accounts = Account.objects.filter(pk=person.user.pk)
    accounts.update(factor_version=F("factor_version") + 1)
    person.account.factor_version += 1
    if current_session is not None:
        Session.objects.filter(pk=current_session.pk).update(factor_version=person.factor_version)
    end_others(person, current_session, reason)


def end_all(person: Person, reason: str) -> None:
    """End all sessions of the user, and invalidate all access tokens by raising the version."""
    end_all_of_users([person.user.pk], reason)


@clock.once
def end_all_of_users(users: Collection[Any], reason: str) -> int:
    """`end_all` for several users, given by primary key; returns how many sessions ended."""
    revoke_foreign_tokens(users)
    accounts = Account.objects.filter(pk__in=users)
    accounts.update(token_version=F("token_version") + 1)
    return end_queryset(Session.objects.filter(user__in=users), reason)


def revoke_foreign_tokens(users: Collection[Any] | None, *, before: datetime | None = None) -> None:
    """Revoke the refresh tokens of another package that these users, or all, could trade for a
    session; with `before` only those issued earlier."""
    for tokens in plugs(ForeignTokens):
        tokens.revoke(users, before)


def _end(rows: QuerySet[Session], reason: str) -> int:
    """The only function that writes `ended_at`."""
    return rows.filter(ended_at=None).update(ended_at=clock.now(), end_reason=reason)


def _notify_policy(ids: list[uuid.UUID]) -> None:
    """Notify the login policy of ended sessions after the commit, before the response.

    Not earlier: if the transaction is rolled back, the sessions have not ended. The callback is
    robust: the rows are authoritative, and a failing session store must not prevent other callbacks
    of the commit.
    """
    receive_ended = policy().ended
    if receive_ended is None or not ids:
        return

    def notify() -> None:  # Django logs the name of a callback that fails; a partial has none
        receive_ended(ids)

    databases.after_commit(notify)
