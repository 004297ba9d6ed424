"""Send messages: as e-mail, in text and HTML, with the mail backend of the project, or as SMS with
its sender."""

from __future__ import annotations

from email import policy as policies
from smtplib import SMTPException
from typing import Any

import django
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.utils import translation

from authservice.core.messages.compose import OutgoingMessage
from authservice.core.users import identifiers
from authservice.notification import failures
from authservice.notification.conf import conf
from authservice.notification.rendering import (
    context_of,
    language_of,
    one_line,
    opening,
    plain,
    render,
)
from authservice.notification.senders import sender

# Tells auto-responders (such as vacation notes) not to reply (RFC 3834 section 5).
_HEADERS = {"Auto-Submitted": "auto-generated"}
# What a server must accept as one line, without the line end (RFC 5321 section 4.5.3.1.6).
_LINE_MAX = 998


class Email(EmailMultiAlternatives):
    """An e-mail whose links are whole in its source, which developers read on the console or in a
    folder.

    Django 6 encodes a body as quoted-printable if one of its lines has more than 78 characters,
    which splits links and writes `=3D` for `=`. Earlier versions send lines of up to 998 bytes as
    they are, and this class does so with every version.
    """

    def message(self, **options: Any) -> Any:
        if django.VERSION < (6, 0):
            return super().message()
        policy = options.get("policy", policies.default)
        built = super().message(policy=policy.clone(max_line_length=_LINE_MAX))
        # The encoding of the bodies is chosen by now. Header lines keep the length of the policy:
        # lines with encoded words must be short (RFC 2047 section 2).
        for part in built.walk():
            part.policy = policy
        return built


def send(outgoing: OutgoingMessage) -> None:
    server = mailer()
    try:
        server.send_messages([build(outgoing)])
    except (OSError, SMTPException) as wrong:
        # For the log: the error itself may quote the recipient.
        failures.note_server(wrong, server)
        raise


def build_in_its_language(outgoing: OutgoingMessage) -> Email:
    """The same as the worker does it, for tests of host projects."""
    with translation.override(language_of(outgoing)):
        return build(outgoing)


def build(outgoing: OutgoingMessage) -> Email:
    """The e-mail of a message, in the active language."""
    context = context_of(outgoing)
    context["subject"] = opening(one_line(render(outgoing, "subject.txt", context)))
    message = Email(
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


def send_text(outgoing: OutgoingMessage) -> None:
    sender()(outgoing.to, opening(render(outgoing, "sms.txt", context_of(outgoing)).strip()))
