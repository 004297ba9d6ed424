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
        if settings.USE_TZ and timezone.is_naive(given):
            given = timezone.make_aware(given)
        if timezone.is_aware(given):
            given = given.astimezone(UTC)  # may raise `OverflowError` near the years 1 and 9999
            # The project stores aware or naive times; compare with the same kind.
            return given if settings.USE_TZ else timezone.make_naive(given)
    except (OverflowError, ValueError) as wrong:
        raise CommandError(f"{option} must be a date or time in ISO 8601 form.") from wrong
    return given
