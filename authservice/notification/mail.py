"""Send messages: as e-mail, in text and HTML, with the mail backend of the project, or as SMS with
the SMS sender. Messages are rendered in the language of their recipient. A template of the host at
the same path replaces ours."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email import policy as policies
from smtplib import SMTPException
from typing import Any

import django
from django.conf import settings
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.utils import timezone, translation
from django.utils.dateparse import parse_datetime
from django.utils.module_loading import import_string
from django.utils.translation import get_supported_language_variant, npgettext, pgettext

from authservice.core.messages import kinds, new_devices
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.users import identifiers
from authservice.kernel import templates
from authservice.kernel.secret import Secret
from authservice.notification.conf import brand, conf
from authservice.notification.senders import sender

logger = logging.getLogger("authservice.notification")

FOLDER = "authservice/notification"
# The attribute of an error that has host and port of the mail server, for the log.
SERVER = "authservice_mail_server"
# Tells auto-responders (such as vacation notes) not to reply (RFC 3834 section 5).
_HEADERS = {"Auto-Submitted": "auto-generated"}
# What a server must accept as one line, without the line end (RFC 5321 section 4.5.3.1.6).
_LINE_MAX = 998
_LONGEST = 200  # characters of a value in a template
# Kinds of e-mails that do not greet by name: an attacker who signed up with the address, or
# requested it for another account, may have chosen the name.
_NAMELESS = (
    kinds.ACCESS_WIPED,
    kinds.CHANGE_EMAIL,
    kinds.EMAIL_CONFIRMED,
    kinds.SIGNUP_UNPROVEN,
)


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
        mime_message = super().message(policy=policy.clone(max_line_length=_LINE_MAX))
        # The encoding of the bodies is chosen by now. Header lines keep the length of the policy:
        # lines with encoded words must be short (RFC 2047 section 2).
        for part in mime_message.walk():
            part.policy = policy
        return mime_message


def send(outgoing: OutgoingMessage) -> None:
    server = mailer()
    try:
        server.send_messages([build(outgoing)])
    except (OSError, SMTPException) as error:
        # For the log: the error itself may quote the recipient.
        if host := getattr(server, "host", ""):
            setattr(error, SERVER, f" from the mail server {host}:{getattr(server, 'port', '')}")
        raise


def mailer() -> Any:
    """The mail backend of the project; no connection is made yet."""
    # Django 6.1 has `mailers` and deprecates `get_connection`.
    server: Any = mail.mailers.default if hasattr(mail, "mailers") else mail.get_connection()
    if getattr(server, "timeout", 0) is None:
        # A server that hangs would block all other e-mail permanently.
        server.timeout = conf.email_timeout.total_seconds()
    return server


def send_text(outgoing: OutgoingMessage) -> None:
    sender()(outgoing.to, opening(render(outgoing, "sms.txt", context_of(outgoing)).strip()))


def build_in_its_language(outgoing: OutgoingMessage) -> Email:
    """The e-mail of a message in the language of its recipient, as the worker sends it; for tests
    of host projects."""
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


def language_of(outgoing: OutgoingMessage) -> str:
    """The host's choice for the user, else the language of the request, else `LANGUAGE_CODE`."""
    preferred = ""
    if conf.language and outgoing.person is not None:
        # A message in the wrong language is better than none.
        try:
            preferred = str(import_string(conf.language)(outgoing.person.user) or "")
        except Exception as error:
            logger.warning("NOTIFICATION.LANGUAGE failed: %s", type(error).__name__)
    for code in (preferred, outgoing.language):
        try:
            return get_supported_language_variant(code)
        except LookupError:
            continue
    return settings.LANGUAGE_CODE


def context_of(outgoing: OutgoingMessage) -> dict[str, Any]:
    """The template context: the message's values as text, `user`, `name`, `email` and `brand`."""
    person = outgoing.person
    # The name for the greeting; empty unless the user has verified the address. An attacker can
    # sign up with another person's address and choose the name. The service must not e-mail a text
    # of the attacker's choice to the owner of that address.
    name = ""
    if person and person.email_verified and outgoing.kind not in _NAMELESS:
        name = one_line(person.account.name or person.first_name)[:_LONGEST]
    return {
        **{key: _presented(key, value) for key, value in outgoing.context.items()},
        "user": person and person.user,
        "name": name,
        "email": outgoing.to,
        "brand": {key: one_line(text) for key, text in brand().items()},
    }


def _presented(name: str, value: Any) -> Any:
    if isinstance(value, timedelta):
        return span(value)
    if name == "at":
        return moment(value)
    if name == "user_agent":
        return browser(value)
    if isinstance(value, list | tuple):
        return [_presented(name, entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: _presented(key, entry) for key, entry in value.items()}
    if isinstance(value, Secret):
        return value.reveal()
    if not isinstance(value, str):
        return value
    return one_line(value)[:_LONGEST]


def span(duration: timedelta) -> str:
    """The duration as text in whole days (from two), hours or minutes."""
    minutes = round(duration.total_seconds() / 60)
    if minutes >= 2880 and minutes % 1440 == 0:
        days = minutes // 1440
        return npgettext("mail", "%(count)d day", "%(count)d days", days) % {"count": days}
    if minutes and minutes % 60 == 0:
        hours = minutes // 60
        return npgettext("mail", "%(count)d hour", "%(count)d hours", hours) % {"count": hours}
    return npgettext("mail", "%(count)d minute", "%(count)d minutes", minutes) % {"count": minutes}


def moment(at: str | datetime) -> str:
    """The point in time in UTC, in a format for readers of every language and time zone."""
    parsed = at if isinstance(at, datetime) else parse_datetime(at)
    if parsed is None:
        return str(at)
    if timezone.is_naive(parsed):  # with `USE_TZ = False`, in `TIME_ZONE`
        parsed = timezone.make_aware(parsed, timezone.get_default_timezone())
    return parsed.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def browser(user_agent: str) -> str:
    """Browser and system of a `User-Agent` header as text, never the text of the header itself."""
    parsed = new_devices.parse_browser(user_agent)
    if not parsed.name:
        return pgettext("mail", "an unknown browser")
    if not parsed.system:
        return parsed.name
    names = {"browser": parsed.name, "system": parsed.system}
    return pgettext("mail", "%(browser)s on %(system)s") % names


def render(outgoing: OutgoingMessage, part: str, context: Mapping[str, Any]) -> str:
    """Render one text of a message; `part` is the file name of its template."""
    return templates.render(f"{FOLDER}/{outgoing.kind}/{part}", context)


def plain(text: str) -> str:
    """A text body without the blank lines that template tags leave."""
    lines = (line.rstrip() for line in text.strip().splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def opening(text: str) -> str:
    """The text without a colon at its beginning; if there was one, the text is capitalized.

    Subjects and text messages begin with `{{ brand.name }}:` in every language. If the service has
    no name, only the colon is left.
    """
    rest = re.sub(r"^\s*:\s*", "", text)
    return text if rest == text else rest[:1].upper() + rest[1:]


def one_line(text: str) -> str:
    """The text without line ends and other control characters, so that it is safe in a header."""
    spaced = (" " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in text)
    return " ".join("".join(spaced).split())
