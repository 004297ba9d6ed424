"""Notices to the owner of an account about providers: linked and unlinked ones, with the link "this
was not me", since an intruder may have made the change, and refused logins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from authservice.core.messages import compose as composing
from authservice.core.messages import security_notice
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.users.person import Person
from authservice.kernel import databases, message_queue
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message
from authservice.oauth import provider_settings
from authservice.oauth.storage import Link

LINKED = "provider-linked"
UNLINKED = "provider-unlinked"
REFUSED = "provider-refused"


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    """Fills the slot `message_builders`."""
    changes = dict.fromkeys((LINKED, UNLINKED), security_notice.compose)
    return {**changes, REFUSED: composing.notice}


def notify(
    kind: str, person: Person, client: Client, before: Mapping[str, Any], link: Link
) -> None:
    """Notify the owner of a change; `before` is `security_notice.state_of` before it."""
    identity = _identity(link.provider, link.email)
    security_notice.notify(kind, person, client, before, provider=identity)


def notify_of_staff(kind: str, person: Person, client: Client, link: Link) -> None:
    """Notify the owner, if the address is proven, of a change by staff, without the IP address,
    device or language of staff."""
    if not person.email_proven:
        return
    anonymous = Client(request_id=client.request_id)
    details = {"by": "staff", "provider": _identity(link.provider, link.email)}
    message_queue.send(kind, person.email, anonymous, using=databases.primary(), details=details)


def notify_of_refusal(person: Person, client: Client, provider: str, email: str) -> None:
    """Notify the owner of a login that was refused, although the provider verified the address."""
    using, client_details = databases.primary(), message_queue.describe_client(client)
    details = {**client_details, "provider": _identity(provider, email)}
    message_queue.send(REFUSED, person.email, client, using=using, details=details)


def _identity(provider: str, email: str) -> str:
    """Which user of which provider: "Google (ann@example.com)"."""
    title = provider_settings.title(provider)
    return f"{title} ({email})" if email else title
