"""Process a job in the background: look up the user, issue the secrets, render and send.

Secrets are created here and not before, so a queue contains only the recipient and the reason. If
sending fails, the dispatcher retries the job, which issues new secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.utils import translation

from authservice.core.messages import compose, counting, delivery, lost_notices
from authservice.core.messages.counting import TextPolicy
from authservice.kernel.message_queue import Message
from authservice.notification import failures, mail, sms
from authservice.notification.conf import conf
from authservice.notification.languages import language_of

_SENDERS = {"email": mail.send, "sms": sms.send}


def deliver(message: Message) -> None:
    """Send the message of the job, if it has a recipient.

    Also enqueues lost security notices again; see `lost_notices`.
    """
    lost_notices.check()
    texts = TextPolicy(per_hour=conf.sms_per_hour, countries=conf.sms_countries)
    outgoing = compose.compose(message, texts)
    if outgoing is None:
        return
    try:
        with translation.override(language_of(outgoing)):
            _SENDERS[outgoing.channel](outgoing)
    except Exception as wrong:
        counting.refund(outgoing.counted)
        delivery.failed(outgoing, wrong)
        raise
    delivery.succeeded(outgoing)


def attempt(message: Message, number: int) -> str:
    """The fault for which the job must be retried, or "" if it is done: sent, or refused
    permanently.
    A failure is logged."""
    try:
        deliver(message)
    except Exception as wrong:
        fault = failures.failed(message, number, wrong)
        if not failures.is_permanent(wrong):
            return fault
        failures.lost(message, f"the mail server refuses the recipient: {fault}")
    return ""


def to_dict(message: Message) -> dict[str, Any]:
    """The job as JSON-serialisable values, for queues."""
    return asdict(message)


def from_dict(job: Mapping[str, Any]) -> Message:
    return Message(**job)
