"""Notices to the owner of an account about linked and unlinked providers, with the link "this was
not me": an intruder may have made the change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from authservice.core.messages import security_notice
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.users.person import Person
from authservice.kernel import databases, message_queue
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message

LINKED = "provider-linked"
UNLINKED = "provider-unlinked"


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    """Fills the slot `message_builders`."""
    return dict.fromkeys((LINKED, UNLINKED), security_notice.compose)


def notify(
    kind: str, person: Person, client: Client, before: Mapping[str, Any], provider: str
) -> None:
    """Notify the owner of a change; `before` is `security_notice.state_of` before it."""
    security_notice.notify(kind, person, client, before, provider=provider)


def notify_of_staff(kind: str, person: Person, client: Client, provider: str) -> None:
    """Notify the owner, if the address is proven, of a change by staff, without the IP address,
    device or language of staff."""
    if not person.email_proven:
        return
    by, details = Client(request_id=client.request_id), {"by": "staff", "provider": provider}
    message_queue.send(kind, person.email, by, using=databases.primary(), details=details)
