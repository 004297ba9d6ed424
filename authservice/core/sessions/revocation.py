"""Ends sessions. Users log out; operators (in a shell) and staff (in Django admin) end the sessions
of others.

Operators and staff may choose many users. These are processed in batches, each in a transaction of
its own, so that row locks are short. Sessions that start during a run may stay: their users have
just authenticated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.signals import user_logged_out
from django.db import transaction
from django.db.models import F, QuerySet

from authservice.core.credentials import passwords
from authservice.core.models import Account, Session
from authservice.core.sessions import sessions
from authservice.core.users.person import Person, create_account
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, errors, events
from authservice.kernel.client import Client

REVOKED = "revoked"


@dataclass
class Ended:
    """How many sessions ended, and of how many users."""

    sessions: int = 0
    users: int = 0


def revoke_everyone(
    *,
    before: datetime | None,
    batch_size: int,
    progress: Callable[[int], None] = lambda done: None,
) -> Ended:
    """End the open sessions of all users, or only those that began before `before`.

    `progress` gets the number of users done.
    """
    ended = Ended()
    # The refresh tokens of other packages, also of users who have no session of this service yet.
    sessions.revoke_foreign_tokens(None, before=before)
    if before is None:
        _raise_versions(batch_size)
    for pks in _batches(_users(before), batch_size):
        users = host().model._base_manager.using(databases.primary()).filter(pk__in=pks)
        ended.sessions += revoke_users(list(users), before=before)
        ended.users += len(pks)
        progress(ended.users)
    return ended


@clock.once
def revoke_users(
    users: Sequence[Any],
    *,
    before: datetime | None = None,
    by: Any = None,
    client: Client | None = None,
) -> int:
    """End all sessions of these users, or those that began before `before`; returns how many.

    `by` is the member of staff, None for an operator in a shell. Without `before` the token version
    is raised too; with `before` it is not, since that would also end the newer sessions.
    """
    using = databases.primary()
    pks = [user.pk for user in users]
    with transaction.atomic(using=using):
        passwords.lock_users(pks)  # concurrent requests of the users finish first, or fail
        if before is None:
            ended = sessions.end_all_of_users(pks, REVOKED)
        else:
            sessions.revoke_foreign_tokens(pks, before=before)
            earlier_sessions = open_sessions(before).order_by().filter(user__in=pks)
            ended = sessions.end_queryset(earlier_sessions, REVOKED)
        for user in users:
            _record(user, by, client)
    return ended


def revoke_one(session: Session, *, by: Any = None, client: Client | None = None) -> bool:
    """End one session; False if it had ended already."""
    using = databases.primary()
    with transaction.atomic(using=using):
        passwords.lock_users([session.user_id])
        ended = sessions.end(session.pk, REVOKED)
        if ended:
            _record(session.user, by, client, session=str(session.pk))
    return ended


def open_sessions(before: datetime | None = None) -> QuerySet[Session]:
    """The sessions that have not ended and began before `before`, if given; ordered by user."""
    rows = Session.objects.filter(ended_at=None).order_by("user_id")
    return rows.filter(created_at__lt=before) if before else rows


def users_with_sessions(before: datetime | None) -> int:
    """How many users have sessions of `open_sessions`."""
    return _users(before).count()


def _users(before: datetime | None) -> QuerySet[Session, Any]:
    return open_sessions(before).values_list("user_id", flat=True).distinct()


def _raise_versions(batch_size: int) -> None:
    """Raise the token version of every user. This ends what depends on it without a session of this
    service, such as Django's own sessions; see `core.staff.admin_login`. A user without an account
    gets one."""
    users = host().model._base_manager.using(databases.primary())
    for pks in _batches(users.order_by("pk").values_list("pk", flat=True), batch_size, "pk"):
        with transaction.atomic(using=databases.primary()):
            passwords.lock_users(pks)
            accounts = Account.objects.filter(user__in=pks)
            missing = {*pks}.difference(accounts.values_list("user_id", flat=True))
            for user in users.filter(pk__in=missing):
                create_account(user)
            accounts.update(token_version=F("token_version") + 1)


def _batches(users: QuerySet[Any, Any], size: int, key: str = "user_id") -> Iterator[list[Any]]:
    """Primary keys of users in ascending order, in lists of `size`; `key` is their column."""
    last = None
    while batch := list((users if last is None else users.filter(**{f"{key}__gt": last}))[:size]):
        yield batch
        last = batch[-1]


def _record(user: Any, by: Any, client: Client | None, **metadata: str) -> None:
    action = "security.session.revoked"
    client = client or Client()
    events.record_by_staff(action, by, user, client, reason=REVOKED, **metadata)


def log_out(person: Person, session: Session, client: Client) -> None:
    """End the session of the request. Raises `InvalidToken` if it has ended since the request was
    authenticated."""
    with sessions.changing(person, session):
        if not sessions.end(session.pk, sessions.LOGOUT):
            raise errors.InvalidToken
        events.record("auth.logout", person, client)
    # The session has ended: if a receiver raises an exception, the client must not get an error.
    # Django logs the exception.
    user_logged_out.send_robust(sender=type(person.user), request=client.http, user=person.user)


def end_carried(session_id: UUID, client: Client) -> None:
    """End a session that was carried by Django's session, after Django's own logout. If it has
    ended already, nothing happens."""
    with transaction.atomic(using=databases.primary()):
        person_and_session = sessions.find_for_request(session_id)
        if person_and_session and sessions.end(session_id, sessions.LOGOUT):
            events.record("auth.logout", person_and_session[0], client)
