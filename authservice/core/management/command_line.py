"""The command line: what an operator types, and what commands print.

An operator names users and points in time. Commands print numbers with their nouns, in English
only, and the progress of long work. The bar is drawn on the standard error of a terminal only, so
files and logs have nothing of it. Ctrl-C ends a command with one line instead of a traceback: every
command writes in transactions, so it can be interrupted at any time, and another run does the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.utils import timezone

from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.core.users.user_model import host

_WIDTH = 30
INTERRUPTED = "Interrupted. Completed work is kept; run the command again to do the rest."
# 128 + SIGINT, as shells report a program that Ctrl-C ended.
STATUS = 130


def named(text: str) -> Person:
    """The user with this id, e-mail address or username.

    Raises `CommandError` if no user matches, or several: a text may be the id of one user and the
    username of another.
    """
    matches: list[Person | None] = []
    # Bytes of the command line that are not UTF-8 are surrogates in Python, and name nobody.
    if text.isprintable():
        try:
            # A user from before the service was installed gets an account, as at a first login.
            by_id = lookup.find_or_create(host().model._meta.pk.to_python(text))
        # `OverflowError`: the number is too large for SQLite.
        except (OverflowError, ValidationError, ValueError):
            by_id = None
        matches = [by_id, lookup.find_by_email(text), lookup.find_by_username(text)]
    people = {person.id: person for person in matches if person}
    if not people:
        raise CommandError(f"There is no user {text!r}.")
    if len(people) > 1:
        raise CommandError(
            f"{text!r} matches the users {' and '.join(people)}: use an identifier that only one of"
            " them has."
        )
    return people.popitem()[1]


def moment(option: str, text: str) -> datetime:
    """The time in the value of an option. Raises `CommandError`."""
    try:
        time = datetime.fromisoformat(text)
        if settings.USE_TZ and timezone.is_naive(time):
            time = timezone.make_aware(time)
        if timezone.is_aware(time):
            time = time.astimezone(UTC)  # may raise `OverflowError` near the years 1 and 9999
            # The project stores aware or naive times; compare with the same kind.
            return time if settings.USE_TZ else timezone.make_naive(time)
    except (OverflowError, ValueError) as error:
        raise CommandError(f"{option} must be a date or time in ISO 8601 form.") from error
    return time


def show_progress(stream: OutputWrapper, done: int, total: int) -> None:
    """Redraw the bar; a stream that is not a terminal gets none."""
    if not stream.isatty():
        return
    _draw(stream, done, total)
    if done >= total:
        stream.write("")


@contextmanager
def progress(stream: OutputWrapper, total: Callable[[], int]) -> Iterator[Callable[[int], None]]:
    """A function that redraws the bar for a number of rows done, until the block ends.

    `total` is called on a terminal only, since counting a long table takes time.
    """
    number = total() if stream.isatty() else 0
    if not number:
        yield lambda done: None
        return
    _draw(stream, 0, number)
    try:
        # More rows may be done than were counted.
        yield lambda done: _draw(stream, min(done, number), number)
    except Exception:
        # An error message begins on a line of its own. After Ctrl-C, `run_from_argv` writes it.
        stream.write("")
        raise
    _draw(stream, number, number)
    stream.write("")


def _draw(stream: OutputWrapper, done: int, total: int) -> None:
    filled = _WIDTH * done // max(total, 1)
    bar = "#" * filled + "." * (_WIDTH - filled)
    stream.write(f"\r[{bar}] {100 * done // max(total, 1)}%", ending="")


def counted(number: int, singular: str, plural: str = "") -> str:
    """Such as "1 user" and "2 users"; `plural` is for nouns that do not end in "s" alone."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def was(number: int) -> str:
    return "was" if number == 1 else "were"


class InterruptibleCommand(BaseCommand):
    """A command of the service. Code that calls it with `call_command` gets `KeyboardInterrupt`."""

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            super().run_from_argv(argv)
        except KeyboardInterrupt:
            if self.stderr.isatty():
                self.stderr.write("")  # after "^C" and the progress bar
            self.stderr.write(INTERRUPTED)
            sys.exit(STATUS)
