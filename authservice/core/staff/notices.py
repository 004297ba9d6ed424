"""Mails to the owners of accounts that staff changed.

They have no link to undo the change: staff are responsible for it. With such a link, an attacker
who had set the former address could undo the help of staff.
"""

from __future__ import annotations

from collections.abc import Collection

from django.utils import timezone

from authservice.core.users.person import Person
from authservice.kernel import databases, message_queue
from authservice.kernel.client import Client

# Fields of an account that can give access to it.
_NOTIFIED = ("email", "phone_number", "password")


def address(person: Person) -> str:
    """The recipient, to be read before a change: the address if its owner proved it, or ""."""
    return person.email if person.email_proven else ""


def send(former: str, person: Person, changed: Collection[str], client: Client) -> None:
    """Mail to the `former` address that staff changed these fields. The mail does not use the
    language or show the client of staff."""
    notified = [name for name in _NOTIFIED if name in changed]
    if not notified:
        return
    message_queue.send(
        message_queue.CHANGED_BY_STAFF,
        former,
        Client(request_id=client.request_id),
        using=databases.primary(),
        details={"user_id": person.id, "changed": notified, "at": timezone.now().isoformat()},
    )
