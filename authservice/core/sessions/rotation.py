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
from authservice.core.models import SignIn
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


def _unmoved() -> QuerySet[SignIn]:
    """The row as it was read, if it still may go on."""
    return SignIn.objects.filter(
        pk=param("id", SignIn),
        counter=param("counter", SignIn),
        ended_at=None,
        idle_expires_at__gt=param("now", SignIn, "idle_expires_at"),
        expires_at__gt=param("now", SignIn, "expires_at"),
    )


_MOVE = Update(
    _unmoved,
    lambda: {
        "counter": param("next_counter", SignIn, "counter"),
        "refreshed_at": param("refreshed_at", SignIn),
        # Made anew under the present key, so that a sign-in in use outlives the one before; unless
        # somebody re-marked the row since it was read, who knows of a newer hash.
        "password_mark": Case(
            When(
                password_mark=param("read_mark", SignIn, "password_mark"),
                then=param("password_mark", SignIn),
            ),
            default=F("password_mark"),
        ),
        "last_used_at": param("now", SignIn, "last_used_at"),
        "idle_expires_at": param("idle_expires_at", SignIn),
    },
)


def refresh(text: Secret, client: Client) -> Tokens:
    """New tokens for a live refresh token.

    Raises `InvalidRefreshToken`, `TooManyRequests`, or what the login policy says.
    """
    token = _parse(text)
    person, sign_in = _find(token)
    throttling.count("refresh", str(sign_in.pk))
    if token.counter < sign_in.counter:
        return _replayed(token, person, sign_in, client)
    using = databases.primary()
    with transaction.atomic(using=using):
        if _moved(person, sign_in, timezone.now()):
            event = Event(action="auth.token.refreshed", user=person.user, client=client)
            events.record(event)
            return sessions.tokens(person, sign_in)
    # Somebody else was faster; what their refresh left behind says what this one is.
    person, sign_in = _find(token)
    return _replayed(token, person, sign_in, client)


def _parse(text: Secret) -> RefreshToken:
    try:
        return refresh_tokens.parse(text)
    except crypto.Unreadable as wrong:
        raise errors.InvalidRefreshToken from wrong


def _find(token: RefreshToken) -> tuple[Person, SignIn]:
    """The standing sign-in of a genuine token; a counter ahead of its row is a restored backup."""
    found = sessions.find_refreshed(token.sign_in_id)
    if found is None:
        raise errors.InvalidRefreshToken
    person, sign_in = found
    if not token.genuine(sign_in.seed) or token.counter > sign_in.counter:
        raise errors.InvalidRefreshToken
    if not sessions.holds(person, sign_in) or _expired(sign_in, timezone.now()):
        raise errors.InvalidRefreshToken
    if not policy().alive(sign_in):
        raise errors.InvalidRefreshToken
    return person, sign_in


def _expired(sign_in: SignIn, now: datetime) -> bool:
    return now >= min(sign_in.idle_expires_at, sign_in.expires_at)


def _moved(person: Person, sign_in: SignIn, now: datetime) -> bool:
    """Move the row on if it still is as it was read; without rotation the counter stays."""
    counter = sign_in.counter
    sign_in.counter += 1 if root.refresh_token_rotation else 0
    moved = _MOVE.run(
        databases.primary(),
        id=sign_in.pk,
        counter=counter,
        next_counter=sign_in.counter,
        now=now,
        # The time since which the live token is the live one: a counter that stays keeps it.
        refreshed_at=now if sign_in.counter != counter else sign_in.refreshed_at,
        idle_expires_at=now + policy().lifetimes().idle,
        read_mark=sign_in.password_mark,
        password_mark=passwords.mark(person.user.password),
    )
    return bool(moved)


def _replayed(token: RefreshToken, person: Person, sign_in: SignIn, client: Client) -> Tokens:
    age = timezone.now() - sign_in.refreshed_at
    direct = token.counter == sign_in.counter - 1
    if direct and root.refresh_grace > timedelta(0) and age <= root.refresh_grace:
        return sessions.tokens(person, sign_in)
    if direct and age <= root.reuse_leeway:
        raise Superseded
    _end_family(person, sign_in, client)
    raise errors.InvalidRefreshToken


def _end_family(person: Person, sign_in: SignIn, client: Client) -> None:
    with transaction.atomic(using=databases.primary()):
        passwords.lock_users([person.user.pk])  # waits for a transaction of the attacker
        if sessions.end(sign_in.pk, sessions.REUSE):
            events.record(
                Event(
                    action="auth.token.reuse_detected",
                    user=person.user,
                    client=client,
                    metadata={"sign_in": str(sign_in.pk)},
                )
            )
