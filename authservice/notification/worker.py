"""Process a job in the background: look up the user, issue the secrets, render and send.

Secrets are created here and not before, so a queue contains only the recipient and the reason. If
sending fails, the dispatcher retries the job, which issues new secrets.

A job of a thread runs in a copy of the context of its request (`contextvars`). State outside of it,
such as the schema on a database connection, is captured by a function of the project
(`NOTIFICATION.CAPTURE`). Another one (`NOTIFICATION.RESTORE`) restores it in each thread or process
that publishes or runs the job.

A log must contain neither addresses nor secrets, and errors of mail servers and providers quote
both. So log entries name a message by its kind and request, and omit the text of an error. They
have the class of the error and of its cause, its place, and the code of the server or of the
operating system.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from errno import errorcode
from smtplib import SMTPRecipientsRefused
from typing import Any, cast

from django.utils import translation
from django.utils.module_loading import import_string

from authservice.core.messages import compose, lost_messages, security_notice, sending
from authservice.core.messages.sending import TextPolicy
from authservice.kernel import clock, measures
from authservice.kernel.message_queue import Message, place
from authservice.notification import mail
from authservice.notification.conf import conf

logger = logging.getLogger("authservice.notification")

_SENDERS = {"email": mail.send, "sms": mail.send_text}


class Undelivered(Exception):
    """The error that a task queue receives for an unsent message, and logs: kind and fault."""


def captured(message: Message) -> Message:
    """The job with the state of the current request."""
    return replace(message, state=import_string(conf.capture)()) if conf.capture else message


def attempt(message: Message, number: int) -> str:
    """The fault for which the job must be retried, or "" if it is done: sent, or refused
    permanently. A failure is logged."""
    try:
        deliver(message)
    except Exception as error:
        fault = failed(message, number, error)
        # A reply code of 5xx refuses the recipient for good, so that a retry cannot succeed (RFC
        # 5321 section 4.2.1). A code of 4xx means later, as in greylisting.
        is_refusal = isinstance(error, SMTPRecipientsRefused)
        if not (is_refusal and lost_messages.reply_code(error) >= 500):
            return fault
        lose(message, f"the mail server refuses the recipient: {fault}")
    return ""


def deliver(message: Message) -> None:
    """Send the message of the job, if it has a recipient.

    Also enqueues lost security notices again; see `security_notice`.
    """
    # A unit of its own: the request that enqueued the job may be long ago.
    with clock.unit(), restored(message):
        _deliver(message)


def _deliver(message: Message) -> None:
    security_notice.check()
    texts = TextPolicy(per_hour=conf.sms_per_hour, countries=conf.sms_countries)
    outgoing = compose.compose(message, texts)
    if outgoing is None:
        return
    try:
        with translation.override(mail.language_of(outgoing)):
            _SENDERS[outgoing.channel](outgoing)
    except Exception as error:
        sending.refund(outgoing.counted)
        lost_messages.failed(outgoing, error)
        raise
    lost_messages.succeeded(outgoing)
    measures.message(message.kind, message.target, measures.SENT)


def restored(message: Message) -> AbstractContextManager[Any]:
    """A context manager in which the state of the request that enqueued the job is restored."""
    if not conf.restore or message.state is None:
        return nullcontext()
    return cast(AbstractContextManager[Any], import_string(conf.restore)(message.state))


def failed(message: Message, attempt: int, error: BaseException) -> str:
    """Log the attempt. Returns the fault: what went wrong, without the text of the error."""
    code: int | str = lost_messages.reply_code(error)
    if not code and type(error) is OSError:
        # Such as "ENETUNREACH". The name of a subclass of `OSError` says as much as the code.
        code = errorcode.get(error.errno or 0, "")
    answer = f" ({code})" if code else ""
    # `smtplib` reports a server that does not answer in time as one that has disconnected.
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    caused = f" caused by {type(cause).__name__}" if cause else ""
    fault = f"{type(error).__name__}{answer}{caused}{getattr(error, mail.SERVER, '')}"
    logger.warning(
        "Could not send %s of request %s, attempt %d: %s%s",
        message.kind,
        message.request_id,
        attempt,
        fault,
        place(error),
    )
    measures.message(message.kind, message.target, measures.FAILED)
    return fault


def give_up(message: Message, attempt: int, fault: str) -> None:
    """Log that the message is lost after its last attempt, which had this fault, and keep its job
    for Django admin."""
    lose(message, f"given up after attempt {attempt}: {fault}")


def lose(message: Message, reason: str) -> None:
    """Log that the message is lost, and keep its job. Never raises: there are other messages."""
    try:
        with clock.unit(), restored(message):  # the row belongs to the tenant of the request
            lost_messages.keep(message, to_dict(message), reason)
    except Exception as error:  # of `RESTORE`, such as for a tenant that was deleted
        logger.warning("Not listed in Django admin: %s (%s)", message.kind, type(error).__name__)
    lost(message, reason)


def lost(message: Message, reason: str) -> None:
    """Only log that the message is lost; `lose` also keeps its job."""
    measures.message(message.kind, message.target, measures.LOST)
    logger.error("Lost %s of request %s: %s", message.kind, message.request_id, reason)


def to_dict(message: Message) -> dict[str, Any]:
    """The job as JSON-serializable values, for queues."""
    job = asdict(message)
    if job["state"] is None:  # workers of an earlier version do not know the field
        del job["state"]
    return job


def from_dict(job: Mapping[str, Any]) -> Message:
    """The job of `to_dict`, also of a later version of this service; see `Message.from_dict`."""
    return Message.from_dict(job)
