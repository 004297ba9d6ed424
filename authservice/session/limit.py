"""Limit the sessions of a user to `MAX_PER_USER`: a new session ends the oldest ones.

The user's row is locked before the sessions are counted and until the new one is committed. So
concurrent logins are serialised, and each counts the session of the login before it.
"""

from __future__ import annotations

from django.utils import timezone

from authservice.core.credentials import passwords
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import events
from authservice.kernel.client import Client

LIMIT = "limit"


def make_room(person: Person, client: Client, *, most: int) -> None:
    """End the oldest sessions so that at most `most` remain with a new one.

    Runs in the transaction that creates the new session.
    """
    passwords.lock_users([person.user.pk])
    now = timezone.now()
    rows = Session.objects.filter(
        user=person.user.pk, ended_at=None, idle_expires_at__gt=now, expires_at__gt=now
    )
    surplus = rows.order_by("-created_at", "-pk")[most - 1 :].values_list("pk", flat=True)
    for pk in list(surplus):
        # One at a time, because another request may have ended it in the meantime: an event is
        # recorded only for a session that ends here.
        if sessions.end(pk, LIMIT):
            action = "security.session.revoked"
            events.record(action, person, client, reason=LIMIT, session=str(pk))
