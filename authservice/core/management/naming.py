"""Read what an operator types on the command line: the name of a user, a point in time."""

from __future__ import annotations

from datetime import UTC, datetime

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.utils import timezone

from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.core.users.user_model import host


def named(text: str) -> Person:
    """The user with this id, e-mail address or username.

    Raises `CommandError` if no user matches, or several: a text may be the id of one user and the
    username of another.
    """
    found = _found(text) if _is_text(text) else []
    people = {person.id: person for person in found if person}
    if not people:
        raise CommandError(f"There is no user {text!r}.")
    if len(people) > 1:
        raise CommandError(
            f"{text!r} matches the users {' and '.join(people)}: use an identifier that only one of"
            " them has."
        )
    return people.popitem()[1]


def _is_text(text: str) -> bool:
    """False for bytes of the command line that are not UTF-8, which are surrogates in Python."""
    return text.isprintable()


def _found(text: str) -> list[Person | None]:
    return [_by_id(text), lookup.find_by_email(text), lookup.find_by_username(text)]


def _by_id(text: str) -> Person | None:
    try:
        return lookup.find_or_create(host().model._meta.pk.to_python(text))
    except (OverflowError, ValidationError, ValueError):  # SQLite has no larger numbers
        return None


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
