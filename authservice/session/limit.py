"""No user has more sessions than `MAX_PER_USER`: the oldest make room for a new one.

The user's row is held from before the sessions are counted until the new one is there. So of many
logins at once each sees what the one before it left.
"""

from __future__ import annotations

from django.utils import timezone

from authservice.core.credentials import passwords
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import databases, events
from authservice.kernel.client import Client
from authservice.kernel.events import Event

LIMIT = "limit"


def make_room(person: Person, client: Client, *, most: int, held: bool) -> None:
    """End what is too much for one more, in the transaction in which it begins; `held` says that
    the user's row is locked in it already."""
    if not held:
        passwords.lock_and_read(person)
    now = timezone.now()
    rows = Session.objects.using(databases.primary()).filter(
        user=person.user.pk, ended_at=None, idle_expires_at__gt=now, expires_at__gt=now
    )
    surplus = rows.order_by("-created_at", "-pk")[most - 1 :].values_list("pk", flat=True)
    for pk in list(surplus):
        # One by one, since it may have been left meanwhile: only what ends here is told.
        if sessions.end(pk, LIMIT):
            events.record(
                Event(
                    action="security.session.revoked",
                    user=person.user,
                    client=client,
                    metadata={"reason": LIMIT, "session": str(pk)},
                )
            )
