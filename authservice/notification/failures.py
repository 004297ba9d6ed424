"""Log entries for messages that could not be sent: their kind and request, never the recipient.

A log must contain neither addresses nor secrets, and errors of mail servers and providers quote
both. So the text of an error is omitted. Its class, that of its cause, its place and the code of
the server or of the operating system are logged.
"""

from __future__ import annotations

import logging
from errno import errorcode
from smtplib import SMTPRecipientsRefused
from typing import Any

from authservice.core.messages import delivery
from authservice.kernel.message_queue import Message, place

logger = logging.getLogger("authservice.notification")

_SERVER = "authservice_mail_server"


class Undelivered(Exception):
    """The error that a task queue receives for an unsent message, and logs: kind and fault."""


def failed(message: Message, attempt: int, wrong: BaseException) -> str:
    """Log the attempt. Returns the fault: what went wrong, without the text of the error."""
    fault = _fault(wrong)
    logger.warning(
        "Could not send %s of request %s, attempt %d: %s%s",
        message.kind,
        message.request_id,
        attempt,
        fault,
        place(wrong),
    )
    return fault


def note_server(wrong: BaseException, mailer: Any) -> None:
    """Keep host and port of the mail server with the error, for the log."""
    if host := getattr(mailer, "host", ""):
        setattr(wrong, _SERVER, f" from the mail server {host}:{getattr(mailer, 'port', '')}")


def is_permanent(wrong: BaseException) -> bool:
    """Whether the mail server has refused the recipient for good, so that a retry cannot succeed
    (a reply code of 5xx, RFC 5321 section 4.2.1). A code of 4xx means later, as in greylisting."""
    return isinstance(wrong, SMTPRecipientsRefused) and delivery.reply_code(wrong) >= 500


def lost(message: Message, reason: str) -> None:
    logger.error("Lost %s of request %s: %s", message.kind, message.request_id, reason)


def given_up(message: Message, attempt: int, fault: str) -> None:
    """Log that the message is lost after its last attempt, which had this fault."""
    lost(message, f"given up after attempt {attempt}: {fault}")


def _fault(wrong: BaseException) -> str:
    code = delivery.reply_code(wrong) or _system_code(wrong)
    answer = f" ({code})" if code else ""
    # `smtplib` reports a server that does not answer in time as one that has disconnected.
    cause = wrong.__cause__ or (None if wrong.__suppress_context__ else wrong.__context__)
    caused = f" caused by {type(cause).__name__}" if cause else ""
    return f"{type(wrong).__name__}{answer}{caused}{getattr(wrong, _SERVER, '')}"


def _system_code(wrong: BaseException) -> str:
    """Such as "ENETUNREACH". The subclasses of `OSError` say by their names what it would say."""
    number = wrong.errno if type(wrong) is OSError else None
    return errorcode.get(number, "") if number else ""
