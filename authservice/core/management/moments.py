"""Reads a time that an operator gives on the command line."""

from __future__ import annotations

from datetime import UTC, datetime

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone


def moment(option: str, text: str) -> datetime:
    """The time in the value of an option. Raises `CommandError`."""
    try:
        given = datetime.fromisoformat(text)
        if timezone.is_aware(given):
            given = given.astimezone(UTC)
    except (OverflowError, ValueError) as wrong:
        raise CommandError(f"{option} must be a date or time in ISO 8601 form.") from wrong
    # The project stores aware or naive times; compare with the same kind.
    if settings.USE_TZ and timezone.is_naive(given):
        return timezone.make_aware(given)
    if not settings.USE_TZ and timezone.is_aware(given):
        return timezone.make_naive(given)
    return given
