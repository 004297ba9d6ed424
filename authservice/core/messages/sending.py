"""Requesting a mail or SMS: the same work for known and unknown recipients, within limits.

Beyond a limit the response is the same and nothing is sent. A known device of the recipient's
account has a separate limit, which other clients cannot use up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from authservice.core import errors
from authservice.core.messages import counting
from authservice.core.messages.counting import Sender, Verdict
from authservice.core.users import identifiers, lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, message_queue
from authservice.kernel.client import Client

# A detail of the one mail a day that is sent beyond the limit. Its link is valid for longer.
LAST = "last"
# A detail of a job: the id of the account that requested a code.
ACCOUNT = "account"


@clock.once
def to_email(
    kind: str, email: str, client: Client, *, details: Mapping[str, Any] | None = None
) -> bool:
    """Enqueue the job for an address; False beyond a limit, and then nothing is sent.

    The client must not learn which it was: the limit may be used up by other clients.
    """
    recipient = lookup.find_by_email(email) if client.device_token else None
    verdict = counting.request_mail(
        kind, identifiers.email_key(email), Sender.of(client, recipient)
    )
    if verdict is Verdict.REFUSE:
        return False
    if verdict is Verdict.LAST:
        details = {**(details or {}), LAST: True}
    using = databases.primary()
    message_queue.send(kind, email, client, using=using, details=details, requested=True)
    return True


@clock.once
def to_phone(
    kind: str,
    phone: str,
    client: Client,
    *,
    details: Mapping[str, Any] | None = None,
    account: Person | None = None,
) -> None:
    """The same for a number. `account` is the account that the message is for, by default the
    result of `lookup.find_by_phone`. Only its known devices have a separate limit, not those of
    another account that has verified the number. Raises `SmsNotConfigured`."""
    if not message_queue.can_sms():
        raise errors.SmsNotConfigured
    recipient = account
    if account is None and client.device_token:
        recipient = lookup.find_by_phone(phone)
    if counting.request_text(kind, identifiers.phone_key(phone), Sender.of(client, recipient)):
        using = databases.primary()
        message_queue.send(kind, phone, client, using=using, details=details, requested=True)
