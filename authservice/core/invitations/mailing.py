"""Mail an invitation: the request enqueues a job, and the worker issues the token.

The link is a key to the account of the address while it is valid. So the row stores only a digest
of the token, and no response, log line or list contains the token.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db.models import F

from authservice.core import errors
from authservice.core.credentials import one_time
from authservice.core.invitations import closing
from authservice.core.invitations.models import Invitation, Status
from authservice.core.messages import mailed_links, sending
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, message_queue
from authservice.kernel.client import Client
from authservice.kernel.languages import phrase
from authservice.kernel.message_queue import Message

# Details of the job: the id of the invitation, and the number of its mail.
_ID, _NUMBER = "invitation", "number"


NOT_MAILED = phrase(
    "The invitation is pending, but no e-mail was sent: its recipient has received too many"
    " invitations today. Send it again tomorrow."
)


@databases.inside_transaction
def send(
    invitation: Invitation, kind: str, client: Client, *, sender: Person, ttl: timedelta
) -> bool:
    """Mail a link that is valid for `ttl`; the previous link ends.

    False if the recipient gets no more mails today: then nothing is sent and nothing changes. The
    caller holds the lock of the inviter. `sender` is the inviter or a member of staff. Raises
    `EmailNotConfigured`, and `TooManyRequests` beyond the limit of the sender.
    """
    if not message_queue.can_mail():
        raise errors.EmailNotConfigured
    if not sending.count_invitation_mail(sender, invitation.email_key):
        return False
    rows = type(invitation).objects.filter(pk=invitation.pk, status=Status.PENDING)
    fields: dict[str, Any] = {"token_digest": None, "expires_at": clock.now() + ttl}
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
    digest = one_time.name_digests(invitation.TOKEN_PURPOSE, token)[0]  # with the current key
    rows = type(invitation).objects.pending().filter(pk=invitation.pk)
    changes = {"token_digest": digest, **closing.state_of_recipient(recipient)}
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
            "link": mailed_links.to_front(path, token),
            "expires_in": invitation.expires_at - clock.now(),
        },
    )
