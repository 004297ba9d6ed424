"""Mail an invitation: the request enqueues a job, and the worker issues the token.

The link is a key to the account of the address while it is valid: the row stores a digest of the
token, and no response, log line or list contains it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db.models import F
from django.utils import timezone

from authservice.core.credentials import one_time
from authservice.core.invitations import recipient_state
from authservice.core.invitations.models import Invitation, Status
from authservice.core.messages import counting, links
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.messages.counting import Sender, Verdict
from authservice.core.users import lookup
from authservice.kernel import databases, errors, message_queue
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message

# Details of the job: the id of the invitation, and the number of its mail.
_ID, _NUMBER = "invitation", "number"


def send(invitation: Invitation, kind: str, client: Client, *, ttl: timedelta) -> bool:
    """Mail a link that is valid for `ttl`; the previous link ends.

    False beyond a limit on mails: then nothing is sent and nothing changes. Call it in a
    transaction that has locked the sender. Raises `EmailNotConfigured`.
    """
    if not message_queue.can_mail():
        raise errors.EmailNotConfigured
    sender = Sender(f"user:{invitation.inviter_id}", client.network, None)
    if counting.request_mail(kind, invitation.email_key, sender) is Verdict.REFUSE:
        return False
    rows = type(invitation).objects.filter(pk=invitation.pk, status=Status.PENDING)
    fields: dict[str, Any] = {"token_digest": None, "expires_at": timezone.now() + ttl}
    if not rows.update(mail_number=F("mail_number") + 1, **fields):
        raise errors.InvitationNotPending
    invitation.mail_number = rows.values_list("mail_number", flat=True).get()
    invitation.token_digest, invitation.expires_at = None, fields["expires_at"]
    message_queue.send(
        kind,
        invitation.email,
        client,
        using=databases.primary(),
        details={_ID: str(invitation.pk), _NUMBER: invitation.mail_number},
        requested=True,
    )
    return True


def find_for(message: Message, model: type[Invitation]) -> Any:
    """The pending invitation of a job, or None if there is nothing to send."""
    rows = model.objects.pending().filter(
        pk=message.details[_ID], mail_number=message.details[_NUMBER]
    )
    return rows.select_related("inviter").first()


def compose(
    message: Message, invitation: Invitation, path: str, context: Mapping[str, Any]
) -> OutgoingMessage | None:
    """The mail of a job with a new token in its link; `path` is that of the page in the front end.

    A retry of the job issues another token. None if the invitation has changed since it was read.
    """
    recipient = lookup.find_by_email(invitation.email)
    if recipient is not None and not recipient.active:
        return None
    token = one_time.new_token()
    digest = one_time.name_digests(invitation.TOKEN_PURPOSE, token)[0]
    rows = type(invitation).objects.pending().filter(pk=invitation.pk)
    changes = {"token_digest": digest, **recipient_state.of(recipient)}
    if not rows.filter(mail_number=invitation.mail_number).update(**changes):
        return None
    return OutgoingMessage(
        kind=message.kind,
        channel="email",
        # The sender may have typed another spelling of the address than the user.
        to=recipient.email if recipient else invitation.email,
        person=recipient,
        language=message.language,
        context={
            **context,
            "link": links.to_front(path, token),
            "expires_in": invitation.expires_at - timezone.now(),
        },
    )
