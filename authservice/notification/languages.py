"""Choose the language of a message, and express durations and points in time in that language."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.module_loading import import_string
from django.utils.translation import get_supported_language_variant, npgettext, pgettext

from authservice.core.messages import browsers
from authservice.core.messages.compose import OutgoingMessage
from authservice.notification.conf import conf
from authservice.notification.failures import logger


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
