"""What commands print: numbers with their nouns, in English only, and the progress of long work.

The bar is drawn on the standard error of a terminal only, so files and logs have nothing of it.
Ctrl-C ends a command with one line instead of a traceback: every command writes in transactions, so
it can be interrupted at any time, and another run does the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.core.management.base import BaseCommand, OutputWrapper

_WIDTH = 30
INTERRUPTED = "Interrupted. Completed work is kept; run the command again to do the rest."
# 128 + SIGINT, as shells report a program that Ctrl-C ended.
STATUS = 130


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
        # An error message begins on a line of its own. After Ctrl-C, the command does it.
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
