"""Messages that could not be sent, for staff. An account stores whether the newest message to its
user failed. A `LostMessage` stores a job that was given up, so that staff can send it again.

A job has no secret, see `kernel/message_queue.py`. A job that is sent again runs the function that
composes this kind of message again: it looks the user up, checks that the message still applies,
and issues a new link or code.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction

from authservice.core.conf import core
from authservice.core.models import Account, LostMessage, OneTimeToken
from authservice.core.users import lookup
from authservice.kernel import clock, databases, message_queue
from authservice.kernel.message_queue import Message

if TYPE_CHECKING:
    from authservice.core.messages.compose import OutgoingMessage

logger = logging.getLogger("authservice.messages")

# Characters of `LostMessage.reason` and of `Account.mail_failure`.
_REASON = 255
_FAILURE = 100


def failed(outgoing: OutgoingMessage, error: Exception) -> None:
    """Store in the account that the message could not be sent. The text of the error is not stored:
    it may quote the recipient or a secret."""
    code = reply_code(error)
    answer = f" ({code})" if code else ""
    reason = f"{outgoing.kind}: {type(error).__name__}{answer}"[:_FAILURE]
    _note(outgoing, mail_failed_at=clock.now(), mail_failure=reason)


def succeeded(outgoing: OutgoingMessage) -> None:
    """Clear an earlier failure in the account; if there is none, no SQL statement runs."""
    if outgoing.person and outgoing.person.account.mail_failed_at:
        _note(outgoing, mail_failed_at=None, mail_failure="")


def reply_code(error: BaseException) -> int:
    """The reply code of the mail server or of the provider (RFC 5321 section 4.2), or 0."""
    # Only `smtplib.SMTPRecipientsRefused` has `recipients`. It is recognized by this attribute, so
    # that processes that send no mail need not load smtplib. A message has one recipient. Other
    # errors of smtplib have the code as an attribute.
    recipients = getattr(error, "recipients", None)
    if isinstance(recipients, dict):
        return max((code for code, _ in recipients.values()), default=0)
    code = getattr(error, "smtp_code", getattr(error, "code", None))
    return code if isinstance(code, int) else 0


def _note(outgoing: OutgoingMessage, **values: object) -> None:
    if outgoing.person:
        Account.objects.filter(pk=outgoing.person.user.pk).update(**values)


@clock.once
def keep(message: Message, job: Mapping[str, Any], reason: str) -> None:
    """Store a job that was given up. Never raises: the worker has other messages to send."""
    if not core.lost_messages_kept:
        return
    try:
        _store(message, dict(job), reason[:_REASON])
    except Exception as error:
        # Log only the class: the text of the error may quote the row.
        error_class = type(error).__name__
        logger.warning("Not listed in Django admin: %s (%s)", message.kind, error_class)


def _store(message: Message, job: dict[str, Any], reason: str) -> None:
    row = LostMessage(
        user_id=_owner(message),
        kind=message.kind,
        recipient=message.target,
        job=job,
        reason=reason,
        lost_at=clock.now(),
    )
    with transaction.atomic(using=databases.primary()):
        if not message.details:
            # A user who requested a link five times needs one. Messages with details differ, such
            # as notices of two changes.
            earlier = LostMessage.objects.filter(kind=row.kind, recipient=row.recipient)
            earlier.filter(sent_again_at=None).delete()
        row.save(force_insert=True, using=databases.primary())


def _owner(message: Message) -> Any:
    """The primary key of the user whom the message is about, or None. A notice to a former address
    or a link to a new one names the user: nobody, or somebody else, may have that address."""
    details = message.details
    if token := details.get("notice") or details.get("change"):
        tokens = OneTimeToken.objects.filter(pk=token)
        if owner := tokens.values_list("user", flat=True).first():
            return owner
    if account := details.get("account") or details.get("user_id"):
        person = lookup.find_by_id(account)
    elif "@" in message.target:
        person = lookup.find_by_email(message.target)
    else:
        person = lookup.find_by_phone(message.target)
    return person.user.pk if person else None


@clock.once
def send_again(row: LostMessage) -> bool:
    """Enqueue the job again; False if staff have sent it again before, or if no messenger sends it.
    Of two concurrent calls, only one enqueues the job."""
    if not message_queue.can_mail():
        return False
    using = databases.primary()
    with transaction.atomic(using=using):
        unsent = LostMessage.objects.filter(pk=row.pk, sent_again_at=None)
        if not unsent.update(sent_again_at=clock.now()):
            return False
        message_queue.enqueue(Message.from_dict(row.job), using=using)
    return True


def number_since(moment: datetime) -> int:
    """How many messages were given up since `moment` and not sent again."""
    return LostMessage.objects.filter(lost_at__gte=moment, sent_again_at=None).count()
