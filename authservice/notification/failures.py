"""Log entries for messages that could not be sent: their kind and request, never the recipient.

A log must contain neither addresses nor secrets, and errors of mail servers and providers quote
both. So the text of an error is omitted; its class, its place and a server's reply code are logged.
"""

from __future__ import annotations

import logging
import traceback
from smtplib import SMTPRecipientsRefused
from typing import Any

from authservice.core.messages import delivery
from authservice.kernel.message_queue import Message

logger = logging.getLogger("authservice.notification")


_SERVER = "authservice_mail_server"


class Undelivered(Exception):
    """The error that a task queue receives for an unsent message; it names only the kind."""


def failed(message: Message, attempt: int, wrong: BaseException) -> None:
    logger.warning(
        "Could not send %s of request %s, attempt %d: %s",
        message.kind,
        message.request_id,
        attempt,
        _described(wrong),
    )


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


def _described(wrong: BaseException) -> str:
    frames = traceback.extract_tb(wrong.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    code = delivery.reply_code(wrong)
    answer = f" ({code})" if code else ""
    server = getattr(wrong, _SERVER, "")
    return f"{type(wrong).__name__}{answer}{server}{place}"
