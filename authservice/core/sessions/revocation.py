"""Ending sign-ins from outside: by an operator in a shell, or by staff in Django admin.

Users are taken in batches, each in a transaction of its own, so that nobody waits for all of them.
Who signs in meanwhile is not thrown out: they have just proven who they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from authservice.core.credentials import passwords
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users.user_model import host
from authservice.kernel import databases, events
from authservice.kernel.client import Client
from authservice.kernel.events import Event

REVOKED = "revoked"


@dataclass
class Ended:
    sessions: int = 0
    users: int = 0


def revoke_everyone(*, before: datetime | None, batch_size: int) -> Ended:
    """End the open sign-ins of all users, or those begun `before`."""
    ended = Ended()
    for pks in _batches(before, batch_size):
        users = host().model._base_manager.using(databases.primary()).filter(pk__in=pks)
        ended.sessions += revoke_users(list(users), before=before)
        ended.users += len(pks)
    return ended


def revoke_users(
    users: Sequence[Any],
    *,
    before: datetime | None = None,
    by: Any = None,
    client: Client | None = None,
) -> int:
    """End every sign-in of these users, or those begun `before`; how many there were.

    `by` is the member of staff who does it. The tokens' version is raised unless `before` spares
    newer sign-ins, which it would end as well.
    """
    using = databases.primary()
    pks = [user.pk for user in users]
    with transaction.atomic(using=using):
        passwords.lock_users(pks)  # running requests finish first, or are refused
        ended = _end_begun(pks, before) if before else sessions.end_all_of_users(pks, REVOKED)
        for user in users:
            events.record(_revoked(user, by, client))
    return ended


def revoke_one(session: Session, *, by: Any = None, client: Client | None = None) -> bool:
    """End one sign-in; False if it had ended already."""
    using = databases.primary()
    with transaction.atomic(using=using):
        passwords.lock_users([session.user_id])
        ended = sessions.end(session.pk, REVOKED)
        if ended:
            events.record(_revoked(session.user, by, client, session=str(session.pk)))
    return ended


def open_sign_ins(before: datetime | None = None) -> QuerySet[Session]:
    """Those that have not ended, in the order of their users."""
    rows = Session.objects.using(databases.primary()).filter(ended_at=None).order_by("user_id")
    return rows.filter(created_at__lt=before) if before else rows


def _end_begun(pks: list[Any], before: datetime) -> int:
    return sessions.end_queryset(open_sign_ins(before).order_by().filter(user__in=pks), REVOKED)


def _batches(before: datetime | None, size: int) -> Iterator[list[Any]]:
    users, last = open_sign_ins(before).values_list("user_id", flat=True).distinct(), None
    while batch := list((users if last is None else users.filter(user_id__gt=last))[:size]):
        yield batch
        last = batch[-1]


def _revoked(user: Any, by: Any, client: Client | None, **metadata: str) -> Event:
    return Event(
        action="security.session.revoked",
        user=by,
        target=user,
        actor_type="admin" if by else "system",
        client=client or Client(),
        metadata={"reason": REVOKED, **metadata},
    )
