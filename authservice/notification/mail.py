"""Send messages as e-mail, as text and HTML, with the mail backend of the project."""

from __future__ import annotations

from smtplib import SMTPException
from typing import Any

from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.utils import translation

from authservice.core.messages.compose import OutgoingMessage
from authservice.core.users import identifiers
from authservice.notification import failures
from authservice.notification.conf import conf
from authservice.notification.languages import language_of
from authservice.notification.rendering import context_of, one_line, opening, plain, render

# Tells auto-responders (such as vacation notes) not to reply (RFC 3834 section 5).
_HEADERS = {"Auto-Submitted": "auto-generated"}


def send(outgoing: OutgoingMessage) -> None:
    server = mailer()
    try:
        server.send_messages([build(outgoing)])
    except (OSError, SMTPException) as wrong:
        # For the log: the error itself may quote the recipient.
        failures.note_server(wrong, server)
        raise


def build_in_its_language(outgoing: OutgoingMessage) -> EmailMultiAlternatives:
    """The same as the worker does it, for tests of host projects."""
    with translation.override(language_of(outgoing)):
        return build(outgoing)


def build(outgoing: OutgoingMessage) -> EmailMultiAlternatives:
    """The e-mail of a message, in the active language."""
    context = context_of(outgoing)
    context["subject"] = opening(one_line(render(outgoing, "subject.txt", context)))
    message = EmailMultiAlternatives(
        subject=context["subject"],
        body=plain(render(outgoing, "body.txt", context)),
        from_email=conf.from_email or None,
        to=[identifiers.deliverable(outgoing.to)],
        headers=_HEADERS,
    )
    message.attach_alternative(render(outgoing, "body.html", context), "text/html")
    return message


def mailer() -> Any:
    """The mail backend of the project; no connection is made yet."""
    # Django 6.1 has `mailers` and deprecates `get_connection`.
    found: Any = mail.mailers.default if hasattr(mail, "mailers") else mail.get_connection()
    if getattr(found, "timeout", 0) is None:
        # A server that hangs would block all other e-mail permanently.
        found.timeout = conf.email_timeout.total_seconds()
    return found
