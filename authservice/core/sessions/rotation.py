"""Refresh with rotation: each refresh token has one successor, and reuse is detected.

A refresh increments the counter of the row in a conditional UPDATE. Its row count decides, so
exactly one of any number of concurrent requests succeeds. Reuse of the direct predecessor shortly
after is a second tab or a retry. Any other reuse means that two clients have tokens of this
session, one of them an attacker. It ends the session, although the request itself is refused
(RFC 9700 section 4.14).
"""

from __future__ import annotations

from contextlib import nullcontext
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Case, F, QuerySet, When
from django.utils import timezone

from authservice.core.credentials import passwords
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.sessions.policy import policy
from authservice.core.sessions.sessions import Tokens
from authservice.core.tokens import refresh as refresh_tokens
from authservice.core.tokens.refresh import RefreshToken
from authservice.core.users.person import Person
from authservice.kernel import crypto, databases, errors, events, throttling
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.kernel.sections import root
from authservice.kernel.sql import Update, param

_ACTION = "auth.token.refreshed"
# A client refreshes at most once a second.
_ROTATIONS = 5


class Superseded(errors.InvalidRefreshToken):
    """The token was replaced a moment ago, by another tab or by a request whose response was lost.
    The session stays valid."""


def _unchanged() -> QuerySet[Session]:
    """The row, if its counter is as it was read and the session has neither ended nor expired."""
    return Session.objects.filter(
        pk=param("id", Session),
        counter=param("counter", Session),
        ended_at=None,
        idle_expires_at__gt=param("now", Session, "idle_expires_at"),
        expires_at__gt=param("now", Session, "expires_at"),
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


def refresh(text: Secret, client: Client) -> Tokens:
    """New tokens for the current refresh token of a session.

    Raises `InvalidRefreshToken`, `TooManyRequests`, or the errors of the login policy.
    """
    token = _parse(text)
    person, session = _find(token)
    if token.counter < session.counter:
        return _reused(token, person, session, client)
    throttling.count("refresh", str(session.pk))
    # One statement needs no transaction, whose BEGIN and COMMIT would be two more round trips.
    stored = events.has_listener(_ACTION)
    with transaction.atomic(using=databases.primary()) if stored else nullcontext():
        issued = _rotated(person, session, timezone.now())
        if issued:
            events.record(_ACTION, person, client)
            return issued
    # A concurrent refresh succeeded: read the row again and treat this one as a reuse.
    person, session = _find(token)
    return _reused(token, person, session, client)


def holder(text: Secret) -> tuple[Person, Session]:
    """The user and the valid session whose current refresh token this is; it stays unused.

    Raises `InvalidRefreshToken`. A token that was replaced is refused and ends nothing.
    """
    token = _parse(text)
    person, session = _find(token)
    if token.counter != session.counter:
        raise errors.InvalidRefreshToken
    return person, session


def replayed(session_id: UUID, client: Client) -> Tokens:
    """The token that this session was started from came again: the token before its first one.

    Raises `InvalidRefreshToken`, also if there is no such session. Unless the session began a
    moment ago, it ends.
    """
    token = RefreshToken(session_id, counter=-1, mac=b"")
    found = sessions.find_for_refresh(session_id)
    if found is None or not _is_usable(*found):
        raise errors.InvalidRefreshToken
    return _reused(token, *found, client)


def find_valid(session_id: UUID) -> Session | None:
    """The session with the columns that a rotation needs, if it is valid."""
    found = sessions.find_for_refresh(session_id)
    return found[1] if found and _is_usable(*found) else None


def rotate(person: Person, session: Session) -> Tokens:
    """New tokens of a session of a signed-in user; its refresh token is replaced, and `auth_time`
    stays.

    Call it in a transaction that has locked the user's row, with a session that `find_valid`
    returned under the lock. Raises `InvalidToken` if the session has ended.
    """
    for _ in range(_ROTATIONS):
        issued = _rotated(person, session, timezone.now())
        if issued:
            return issued
        # A refresh of the same client was faster; it does not lock the user.
        current = find_valid(session.pk)
        if current is None:
            break
        session = current
    raise errors.InvalidToken


def _parse(text: Secret) -> RefreshToken:
    try:
        return refresh_tokens.parse(text)
    except crypto.Unreadable as wrong:
        raise errors.InvalidRefreshToken from wrong


def _find(token: RefreshToken) -> tuple[Person, Session]:
    """The valid session of the token. Raises `InvalidRefreshToken`.

    A token with a counter greater than that of its row was issued before the database was restored
    from a backup.
    """
    found = sessions.find_for_refresh(token.session_id)
    if found is None:
        raise errors.InvalidRefreshToken
    person, session = found
    if not token.genuine(session.seed) or token.counter > session.counter:
        raise errors.InvalidRefreshToken
    if not _is_usable(person, session):
        raise errors.InvalidRefreshToken
    return person, session


def _is_usable(person: Person, session: Session) -> bool:
    expired = _expired(session, timezone.now())
    return sessions.is_valid(person, session) and not expired and policy().alive(session)


def _expired(session: Session, now: datetime) -> bool:
    return now >= min(session.idle_expires_at, session.expires_at)


def _rotated(person: Person, session: Session, now: datetime) -> Tokens | None:
    """New tokens, after the counter was incremented; None if the row has changed. Without rotation
    the counter stays.

    The tokens are issued first: if a hook of the host project raises, the refresh token stays
    valid.
    """
    counter = session.counter
    session.counter += 1 if root.refresh_token_rotation else 0
    issued = sessions.issue_tokens(person, session)
    rotated = _ROTATE.run(
        databases.primary(),
        id=session.pk,
        counter=counter,
        next_counter=session.counter,
        now=now,
        # The time when the current refresh token was issued: unchanged if the counter is.
        refreshed_at=now if session.counter != counter else session.refreshed_at,
        idle_expires_at=now + policy().lifetimes().idle,
        old_fingerprint=session.password_fingerprint,
        password_fingerprint=passwords.fingerprint(person.password),
    )
    return issued if rotated else None


def _reused(token: RefreshToken, person: Person, session: Session, client: Client) -> Tokens:
    age = timezone.now() - session.refreshed_at
    in_grace = root.refresh_grace > timedelta(0) and age <= root.refresh_grace
    if token.counter == session.counter - 1 and (in_grace or age <= root.reuse_leeway):
        throttling.count("refresh", str(session.pk))
        if in_grace:
            return sessions.issue_tokens(person, session)
        raise Superseded
    # Not counted: a thief who used up the limit would prevent the end of the session.
    _end_session(person, session, client)
    raise errors.InvalidRefreshToken


def _end_session(person: Person, session: Session, client: Client) -> None:
    with transaction.atomic(using=databases.primary()):
        # Wait for a running transaction of the attacker, which holds this lock.
        passwords.lock_users([person.user.pk])
        if sessions.end(session.pk, sessions.REUSE):
            action = "auth.token.reuse_detected"
            events.record(action, person, client, session=str(session.pk))
