"""Notices to the owner of a second factor about changes: an attacker may have made them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from authservice.core.messages import security_notice
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.users.person import Person
from authservice.kernel import databases, message_queue
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message

ENABLED = "two-factor-enabled"
DISABLED = "two-factor-disabled"
CODES_RENEWED = "backup-codes-renewed"


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    return dict.fromkeys((ENABLED, DISABLED, CODES_RENEWED), security_notice.compose)


def notify(kind: str, person: Person, client: Client, *, since: datetime | None = None) -> None:
    """Notify the owner of a change that the owner or an intruder made; `since` is when it
    began."""
    before = security_notice.state_of(person, since=since)
    security_notice.notify(kind, person, client, before)


def notify_of_staff(kind: str, person: Person, client: Client) -> None:
    """Notify the owner, if the address is proven, of a change by staff, without the IP address,
    device or language of staff."""
    if not person.email_proven:
        return
    by, details = Client(request_id=client.request_id), {"by": "staff"}
    message_queue.send(kind, person.email, by, using=databases.primary(), details=details)
