"""Refresh with rotation: each refresh token has one successor, and reuse is detected.

A refresh increments the counter of the row in a conditional UPDATE. Its row count decides, so
exactly one of any number of concurrent requests succeeds. Reuse of the direct predecessor shortly
after the refresh is taken for a second tab or a retry. Any other reuse means that two clients have
tokens of this session, one of them an attacker. Such reuse ends the session, although the request
itself is refused (RFC 9700 section 4.14).
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Case, F, QuerySet, When

from authservice.core.credentials import passwords
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.sessions.sessions import Tokens, policy
from authservice.core.tokens import signing as refresh_tokens
from authservice.core.tokens.signing import RefreshToken
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, errors, events, secret, throttling
from authservice.kernel.client import Client
from authservice.kernel.interfaces import SessionData
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret
from authservice.kernel.sections import root
from authservice.kernel.sql import Update, param

_ACTION = "auth.token.refreshed"


class Superseded(errors.InvalidRefreshToken):
    """The token was replaced a moment ago, by another tab or by a request whose response was lost.
    The session stays valid."""


def _unchanged() -> QuerySet[Session]:
    """The row of the session, if its counter is as it was read and the session has neither ended
    nor expired."""
    return Session.objects.filter(
        pk=param("id", Session),
        counter=param("counter", Session),
        ended_at=None,
        idle_expires_at__gt=param("by_now", Session, "idle_expires_at"),
        expires_at__gt=param("by_now", Session, "expires_at"),
    )


_ROTATE = Update(
    _unchanged,
    lambda: {
        "counter": param("next_counter", Session, "counter"),
        "refreshed_at": param("refreshed_at", Session),
        # The fingerprint is computed again with the current key, so that sessions in use survive
        # the removal of an old `SECRET_KEY`. If a concurrent transaction changed the column after
        # it was read, that value belongs to a newer password hash and is kept.
        "password_fingerprint": Case(
            When(
                password_fingerprint=param("old_fingerprint", Session, "password_fingerprint"),
                then=param("password_fingerprint", Session),
            ),
            default=F("password_fingerprint"),
        ),
        "last_used_at": param("now", Session, "last_used_at"),
        "idle_expires_at": param("idle_expires_at", Session),
    },
)


@clock.once
def refresh(text: Secret, client: Client) -> Tokens:
    """New tokens for the current refresh token of a session.

    Raises `InvalidRefreshToken`, `TooManyRequests`, or the errors of the login policy.
    """
    token = _parse(text)
    person, session = _find(token)
    if token.counter < session.counter:
        return _reused(token, person, session, client)
    throttling.count("refresh", str(session.pk))
    # Without a listener the UPDATE is the only statement. It needs no transaction, whose BEGIN and
    # COMMIT would be two more round trips.
    has_listener = events.has_listener(_ACTION)
    with transaction.atomic(using=databases.primary()) if has_listener else nullcontext():
        tokens = _rotated(person, session)
        if tokens:
            events.record(_ACTION, person, client)
            return tokens
    # A concurrent refresh was faster: read the row again and treat this request as a reuse.
    person, session = _find(token)
    return _reused(token, person, session, client)


@clock.once
def holder(text: Secret) -> tuple[Person, Session]:
    """The user and the valid session whose current refresh token this is; it stays unused.

    Raises `InvalidRefreshToken`. A token that was replaced is refused and ends nothing.
    """
    token = _parse(text)
    person, session = _find(token)
    if token.counter != session.counter:
        raise errors.InvalidRefreshToken
    return person, session


@clock.once
def replayed(session_id: UUID, client: Client) -> Tokens:
    """Handle a second use of the token of another package from which this session was started. It
    counts as the predecessor of the first refresh token.

    Raises `InvalidRefreshToken`, also if there is no such session. Unless the session began a
    moment ago, it ends.
    """
    token = RefreshToken(session_id, counter=-1, mac=b"")
    person_and_session = sessions.find_for_refresh(session_id)
    if person_and_session is None or not _is_usable(*person_and_session):
        raise errors.InvalidRefreshToken
    return _reused(token, *person_and_session, client)


def find_valid(session_id: UUID) -> Session | None:
    """The session with the columns that a rotation needs, if it is valid."""
    person_and_session = sessions.find_for_refresh(session_id)
    return person_and_session[1] if person_and_session and _is_usable(*person_and_session) else None


@databases.inside_transaction
@clock.once
def continued(person: Person, session: Session, shown: Secret) -> Tokens:
    """New tokens for a signed-in client that continues its session, such as after a switch of the
    organization; `auth_time` stays.

    `shown` is the refresh token that the client sent along, or empty. If it is the current one, it
    is replaced, as by a refresh. Without it nothing is replaced: otherwise a client that keeps its
    earlier tokens could not refresh any more, because its next refresh would look like reuse. Such
    a client gets a new access token and its current refresh token again, or none if a module
    withholds it.

    The caller holds the lock of the user's row, and has got the session from `find_valid` under
    this lock.
    Raises `InvalidRefreshToken` if `shown` is not the current token.
    """
    if not shown:
        # The row, and so the idle lifetime, stays as it is. An access token alone must not become a
        # refresh token where a module withholds it.
        tokens = sessions.issue_tokens(person, session)
        withheld = any(data.withholds_refresh() for data in plugs(SessionData))
        return replace(tokens, refresh_token=Secret("")) if withheld else tokens
    require_usable(session, shown)
    token = _parse(shown)
    if token.counter == session.counter:
        new_tokens = _rotated(person, session)
        if new_tokens:
            return new_tokens
        # A refresh of the same client was faster; it does not lock the user.
        current = find_valid(session.pk)
        if current is None:
            raise errors.InvalidToken
        session = current
    if not _is_recent_predecessor(token, session):
        raise errors.InvalidRefreshToken
    return sessions.issue_tokens(person, session)


@clock.once
def require_usable(session: Session, shown: Secret) -> None:
    """Raises `InvalidRefreshToken` if `continued` would refuse `shown`, the refresh token that the
    client sent along. Call it before the transaction writes anything.

    It does not detect reuse and ends no session: a refresh does so.
    """
    if not shown:
        return
    token = _parse(shown)
    if not token.genuine(session.seed):  # which excludes tokens of other sessions
        raise errors.InvalidRefreshToken
    if token.counter != session.counter and not _is_recent_predecessor(token, session):
        raise errors.InvalidRefreshToken


def _is_recent_predecessor(token: RefreshToken, session: Session) -> bool:
    """Whether the current token replaced this one within the grace period."""
    is_predecessor = token.counter == session.counter - 1
    return is_predecessor and _in_grace(clock.now() - session.refreshed_at)


def _parse(text: Secret) -> RefreshToken:
    try:
        return refresh_tokens.parse_refresh_token(text)
    except secret.Unreadable as error:
        raise errors.InvalidRefreshToken from error


def _find(token: RefreshToken) -> tuple[Person, Session]:
    """The valid session of the token. Raises `InvalidRefreshToken`.

    A token whose counter is greater than that of its row was issued before the database was
    restored from a backup; it is refused.
    """
    person_and_session = sessions.find_for_refresh(token.session_id)
    if person_and_session is None:
        raise errors.InvalidRefreshToken
    person, session = person_and_session
    if not token.genuine(session.seed) or token.counter > session.counter:
        raise errors.InvalidRefreshToken
    if not _is_usable(person, session):
        raise errors.InvalidRefreshToken
    return person, session


def _is_usable(person: Person, session: Session) -> bool:
    expired = clock.by_now() >= min(session.idle_expires_at, session.expires_at)
    return sessions.is_valid(person, session) and not expired and policy().alive(session)


def _rotated(person: Person, session: Session) -> Tokens | None:
    """New tokens, after the counter was incremented; None if the row has changed. Without rotation
    the counter stays.

    The tokens are issued first: if a hook of the host project raises, the refresh token stays
    valid.
    """
    counter = session.counter
    now = clock.now()
    session.counter += 1 if root.refresh_token_rotation else 0
    new_tokens = sessions.issue_tokens(person, session)
    matched_rows = _ROTATE.run(
        databases.primary(),
        id=session.pk,
        counter=counter,
        next_counter=session.counter,
        now=now,
        by_now=clock.by_now(),
        # The time when the current refresh token was issued: the same as long as the counter is.
        refreshed_at=now if session.counter != counter else session.refreshed_at,
        idle_expires_at=now + policy().lifetimes().idle,
        old_fingerprint=session.password_fingerprint,
        password_fingerprint=passwords.fingerprint(person.password),
    )
    return new_tokens if matched_rows else None


def _reused(token: RefreshToken, person: Person, session: Session, client: Client) -> Tokens:
    """The tokens of `issue_tokens` for the direct predecessor within the grace period.

    Raises `Superseded` for the predecessor within the leeway. Any other reuse ends the session and
    raises `InvalidRefreshToken`.
    """
    age = clock.now() - session.refreshed_at
    in_grace = _in_grace(age)
    if token.counter == session.counter - 1 and (in_grace or age <= root.reuse_leeway):
        throttling.count("refresh", str(session.pk))
        if in_grace:
            return sessions.issue_tokens(person, session)
        raise Superseded
    # Reuse is not counted: an attacker who used up the limit would prevent the end of the session.
    with transaction.atomic(using=databases.primary()):
        # Wait for a running transaction of the attacker, which holds this lock.
        passwords.lock_users([person.user.pk])
        if sessions.end(session.pk, sessions.REUSE):
            action = "auth.token.reuse_detected"
            events.record(action, person, client, session=str(session.pk))
    raise errors.InvalidRefreshToken


def _in_grace(age: timedelta) -> bool:
    """Whether a token that was replaced `age` ago still gets its successor."""
    return root.refresh_grace > timedelta(0) and age <= root.refresh_grace
