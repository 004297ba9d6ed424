"""Render messages in the language of their recipient; a template of the host at the same path
replaces ours."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.module_loading import import_string
from django.utils.translation import get_supported_language_variant, npgettext, pgettext

from authservice.core.messages import browsers, kinds
from authservice.core.messages.compose import OutgoingMessage
from authservice.kernel import templates
from authservice.kernel.secret import Secret
from authservice.notification.conf import brand, conf
from authservice.notification.failures import logger

FOLDER = "authservice/notification"
_LONGEST = 200
_NAMELESS = (
    kinds.ACCESS_WIPED,
    kinds.CHANGE_EMAIL,
    kinds.EMAIL_CONFIRMED,
    kinds.SIGNUP_UNPROVEN,
)


def language_of(outgoing: OutgoingMessage) -> str:
    """The host's choice for the user, else the language of the request, else `LANGUAGE_CODE`."""
    for code in (_preferred(outgoing), outgoing.language):
        try:
            return get_supported_language_variant(code)
        except LookupError:
            continue
    return settings.LANGUAGE_CODE


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
    known = browsers.parse(user_agent)
    if not known.name:
        return pgettext("mail", "an unknown browser")
    if not known.system:
        return known.name
    names = {"browser": known.name, "system": known.system}
    return pgettext("mail", "%(browser)s on %(system)s") % names


def _preferred(outgoing: OutgoingMessage) -> str:
    if not conf.language or outgoing.person is None:
        return ""
    # A message in the wrong language is better than none.
    try:
        return str(import_string(conf.language)(outgoing.person.user) or "")
    except Exception as wrong:
        logger.warning("NOTIFICATION.LANGUAGE failed: %s", type(wrong).__name__)
        return ""


def context_of(outgoing: OutgoingMessage) -> dict[str, Any]:
    """The template context: the message's values as text, `user`, `name`, `email` and `brand`."""
    return {
        **{name: _presented(name, value) for name, value in outgoing.context.items()},
        "user": outgoing.person and outgoing.person.user,
        "name": _name(outgoing),
        "email": outgoing.to,
        "brand": {name: one_line(text) for name, text in brand().items()},
    }


def render(outgoing: OutgoingMessage, part: str, context: Mapping[str, Any]) -> str:
    """Render one text of a message; `part` is the file name of its template."""
    return templates.render(f"{FOLDER}/{outgoing.kind}/{part}", context)


def plain(text: str) -> str:
    """A text body without the blank lines that template tags leave."""
    lines = (line.rstrip() for line in text.strip().splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def opening(text: str) -> str:
    """The text without the colon that follows the name of a service that has none.

    Subjects and text messages begin with `{{ brand.name }}:`, in every language.
    """
    rest = re.sub(r"^\s*:\s*", "", text)
    return text if rest == text else rest[:1].upper() + rest[1:]


def one_line(text: str) -> str:
    """The text without line ends and other control characters, so that it is safe in a header."""
    spaced = (" " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in text)
    return " ".join("".join(spaced).split())


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


def _name(outgoing: OutgoingMessage) -> str:
    """The name for the greeting; empty unless the user has verified the address.

    An attacker can sign up with another person's address and choose the name. The service must not
    e-mail a text of the attacker's choice to the owner of that address.
    """
    person = outgoing.person
    # In e-mails of these kinds, an attacker who signed up with the address, or requested it for
    # another account, may have set the name.
    if person is None or not person.email_verified or outgoing.kind in _NAMELESS:
        return ""
    return one_line(person.account.name or person.first_name)[:_LONGEST]
