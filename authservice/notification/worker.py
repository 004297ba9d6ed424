"""Process a job in the background: look up the user, issue the secrets, render and send.

Secrets are created here and not before, so a queue contains only the recipient and the reason. If
sending fails, the dispatcher retries the job, which issues new secrets.

A job of a thread runs in a copy of the context of its request (`contextvars`). State outside of it,
such as the schema on a database connection, is captured by a function of the project and restored
by another one, in whichever thread or process the job is published or runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from typing import Any, cast

from django.utils import translation
from django.utils.module_loading import import_string

from authservice.core.messages import compose, counting, delivery, lost_notices
from authservice.core.messages.counting import TextPolicy
from authservice.kernel import clock
from authservice.kernel.message_queue import Message
from authservice.notification import failures, mail
from authservice.notification.conf import conf
from authservice.notification.rendering import language_of

_SENDERS = {"email": mail.send, "sms": mail.send_text}


def captured(message: Message) -> Message:
    """The job with the state of the current request."""
    return replace(message, state=import_string(conf.capture)()) if conf.capture else message


def restored(message: Message) -> AbstractContextManager[Any]:
    """The state of the request that enqueued the job."""
    if not conf.restore or message.state is None:
        return nullcontext()
    return cast(AbstractContextManager[Any], import_string(conf.restore)(message.state))


def deliver(message: Message) -> None:
    """Send the message of the job, if it has a recipient.

    Also enqueues lost security notices again; see `lost_notices`.
    """
    # A unit of its own: the request that enqueued the job may be long ago.
    with clock.unit(), restored(message):
        _deliver(message)


def _deliver(message: Message) -> None:
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
    job = asdict(message)
    if job["state"] is None:  # workers of an earlier version do not know the field
        del job["state"]
    return job


def from_dict(job: Mapping[str, Any]) -> Message:
    return Message(**job)
