"""Whether the newest message to a user could be sent, for the support page in Django admin."""

from __future__ import annotations

from django.utils import timezone

from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import Account

_LENGTH = 100


def failed(outgoing: OutgoingMessage, wrong: Exception) -> None:
    """Note that the message could not be sent. The text of the error is not stored: it may quote
    the recipient or a secret."""
    code = getattr(wrong, "smtp_code", getattr(wrong, "code", None))
    answer = f" ({code})" if isinstance(code, int) else ""
    reason = f"{outgoing.kind}: {type(wrong).__name__}{answer}"[:_LENGTH]
    _store(outgoing, mail_failed_at=timezone.now(), mail_failure=reason)


def succeeded(outgoing: OutgoingMessage) -> None:
    """Forget an earlier failure; without one there is no statement."""
    if outgoing.person and outgoing.person.account.mail_failed_at:
        _store(outgoing, mail_failed_at=None, mail_failure="")


def _store(outgoing: OutgoingMessage, **values: object) -> None:
    if outgoing.person:
        Account.objects.filter(pk=outgoing.person.user.pk).update(**values)
