"""In which language a letter is written, and how it puts spans and moments into words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.utils.dateparse import parse_datetime
from django.utils.module_loading import import_string
from django.utils.translation import get_supported_language_variant, npgettext, pgettext

from authservice.core.messages import browsers
from authservice.core.messages.compose import OutgoingMessage
from authservice.notification.conf import conf
from authservice.notification.failures import logger


def language_of(letter: OutgoingMessage) -> str:
    """What the host says of the user, else the language of the request, else the project's."""
    for code in (_preferred(letter), letter.language):
        try:
            return get_supported_language_variant(code)
        except LookupError:
            continue
    return settings.LANGUAGE_CODE


def span(duration: timedelta) -> str:
    """The duration in whole days (from two), hours or minutes."""
    minutes = round(duration.total_seconds() / 60)
    if minutes >= 2880 and minutes % 1440 == 0:
        days = minutes // 1440
        return npgettext("mail", "%(count)d day", "%(count)d days", days) % {"count": days}
    if minutes and minutes % 60 == 0:
        hours = minutes // 60
        return npgettext("mail", "%(count)d hour", "%(count)d hours", hours) % {"count": hours}
    return npgettext("mail", "%(count)d minute", "%(count)d minutes", minutes) % {"count": minutes}


def moment(at: str | datetime) -> str:
    """A point in time that readers of every language and zone read alike."""
    parsed = at if isinstance(at, datetime) else parse_datetime(at)
    if parsed is None or parsed.tzinfo is None:
        return str(at)
    return parsed.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def browser(user_agent: str) -> str:
    """The browser and system of a `User-Agent` header in words, never the header's text."""
    known = browsers.parse(user_agent)
    if not known.name:
        return pgettext("mail", "an unknown browser")
    if not known.system:
        return known.name
    names = {"browser": known.name, "system": known.system}
    return pgettext("mail", "%(browser)s on %(system)s") % names


def _preferred(letter: OutgoingMessage) -> str:
    if not conf.language:
        return ""
    # The wrong language is better than no letter.
    try:
        return str(import_string(conf.language)(letter.person.user) or "")
    except Exception as wrong:
        logger.warning("NOTIFICATION.LANGUAGE failed: %s", type(wrong).__name__)
        return ""
