"""Whether the newest message to a user could be sent, for the support page in Django admin."""

from __future__ import annotations

from smtplib import SMTPRecipientsRefused

from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import Account
from authservice.kernel import clock

_LENGTH = 100


def failed(outgoing: OutgoingMessage, wrong: Exception) -> None:
    """Note that the message could not be sent. The text of the error is not stored: it may quote
    the recipient or a secret."""
    code = reply_code(wrong)
    answer = f" ({code})" if code else ""
    reason = f"{outgoing.kind}: {type(wrong).__name__}{answer}"[:_LENGTH]
    _store(outgoing, mail_failed_at=clock.now(), mail_failure=reason)


def succeeded(outgoing: OutgoingMessage) -> None:
    """Forget an earlier failure; without one there is no statement."""
    if outgoing.person and outgoing.person.account.mail_failed_at:
        _store(outgoing, mail_failed_at=None, mail_failure="")


def reply_code(wrong: BaseException) -> int:
    """The reply code of the mail server or of the provider (RFC 5321 section 4.2), or 0."""
    if isinstance(wrong, SMTPRecipientsRefused):
        # A message has one recipient. Other errors of smtplib have the code as an attribute.
        return max((code for code, _ in wrong.recipients.values()), default=0)
    code = getattr(wrong, "smtp_code", getattr(wrong, "code", None))
    return code if isinstance(code, int) else 0


def _store(outgoing: OutgoingMessage, **values: object) -> None:
    if outgoing.person:
        Account.objects.filter(pk=outgoing.person.user.pk).update(**values)
