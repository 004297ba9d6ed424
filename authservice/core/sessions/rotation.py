"""Refreshing: one successor per token, and what a replay of an old one means.

A refresh moves the row's counter by one in a conditional UPDATE; its row count is the verdict, so
of any number of parallel tries exactly one wins. A replay of the direct parent shortly after is a
second tab or a retry; any other replay means that two hold the family, one of them a thief, and
ends it, also though the request itself is refused (RFC 9700 section 4.14).
"""

from __future__ import annotations

from datetime import datetime, timedelta

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
from authservice.kernel.events import Event
from authservice.kernel.secret import Secret
from authservice.kernel.sections import root
from authservice.kernel.sql import Update, param


class Superseded(errors.InvalidRefreshToken):
    """The family goes on: another tab, or a try whose answer was lost, refreshed a moment ago."""


def _unmoved() -> QuerySet[Session]:
    """The row as it was read, if it still may go on."""
    return Session.objects.filter(
        pk=param("id", Session),
        counter=param("counter", Session),
        ended_at=None,
        idle_expires_at__gt=param("now", Session, "idle_expires_at"),
        expires_at__gt=param("now", Session, "expires_at"),
    )


_MOVE = Update(
    _unmoved,
    lambda: {
        "counter": param("next_counter", Session, "counter"),
        "refreshed_at": param("refreshed_at", Session),
        # Made anew under the present key, so that a sign-in in use outlives the one before; unless
        # somebody re-marked the row since it was read, who knows of a newer hash.
        "password_fingerprint": Case(
            When(
                password_fingerprint=param("read_mark", Session, "password_fingerprint"),
                then=param("password_fingerprint", Session),
            ),
            default=F("password_fingerprint"),
        ),
        "last_used_at": param("now", Session, "last_used_at"),
        "idle_expires_at": param("idle_expires_at", Session),
    },
)


def refresh(text: Secret, client: Client) -> Tokens:
    """New tokens for a live refresh token.

    Raises `InvalidRefreshToken`, `TooManyRequests`, or what the login policy says.
    """
    token = _parse(text)
    person, session = _find(token)
    throttling.count("refresh", str(session.pk))
    if token.counter < session.counter:
        return _replayed(token, person, session, client)
    using = databases.primary()
    with transaction.atomic(using=using):
        if _moved(person, session, timezone.now()):
            event = Event(action="auth.token.refreshed", user=person.user, client=client)
            events.record(event)
            return sessions.issue_tokens(person, session)
    # Somebody else was faster; what their refresh left behind says what this one is.
    person, session = _find(token)
    return _replayed(token, person, session, client)


def _parse(text: Secret) -> RefreshToken:
    try:
        return refresh_tokens.parse(text)
    except crypto.Unreadable as wrong:
        raise errors.InvalidRefreshToken from wrong


def _find(token: RefreshToken) -> tuple[Person, Session]:
    """The standing sign-in of a genuine token; a counter ahead of its row is a restored backup."""
    found = sessions.find_for_refresh(token.sign_in_id)
    if found is None:
        raise errors.InvalidRefreshToken
    person, session = found
    if not token.genuine(session.seed) or token.counter > session.counter:
        raise errors.InvalidRefreshToken
    if not sessions.is_valid(person, session) or _expired(session, timezone.now()):
        raise errors.InvalidRefreshToken
    if not policy().alive(session):
        raise errors.InvalidRefreshToken
    return person, session


def _expired(session: Session, now: datetime) -> bool:
    return now >= min(session.idle_expires_at, session.expires_at)


def _moved(person: Person, session: Session, now: datetime) -> bool:
    """Move the row on if it still is as it was read; without rotation the counter stays."""
    counter = session.counter
    session.counter += 1 if root.refresh_token_rotation else 0
    moved = _MOVE.run(
        databases.primary(),
        id=session.pk,
        counter=counter,
        next_counter=session.counter,
        now=now,
        # The time since which the live token is the live one: a counter that stays keeps it.
        refreshed_at=now if session.counter != counter else session.refreshed_at,
        idle_expires_at=now + policy().lifetimes().idle,
        read_mark=session.password_fingerprint,
        password_fingerprint=passwords.fingerprint(person.user.password),
    )
    return bool(moved)


def _replayed(token: RefreshToken, person: Person, session: Session, client: Client) -> Tokens:
    age = timezone.now() - session.refreshed_at
    direct = token.counter == session.counter - 1
    if direct and root.refresh_grace > timedelta(0) and age <= root.refresh_grace:
        return sessions.issue_tokens(person, session)
    if direct and age <= root.reuse_leeway:
        raise Superseded
    _end_family(person, session, client)
    raise errors.InvalidRefreshToken


def _end_family(person: Person, session: Session, client: Client) -> None:
    with transaction.atomic(using=databases.primary()):
        passwords.lock_users([person.user.pk])  # waits for a transaction of the attacker
        if sessions.end(session.pk, sessions.REUSE):
            events.record(
                Event(
                    action="auth.token.reuse_detected",
                    user=person.user,
                    client=client,
                    metadata={"session": str(session.pk)},
                )
            )
