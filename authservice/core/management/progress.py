"""The progress bar of commands whose work grows with the number of users or rows.

It is drawn on the standard error of a terminal only, so files and logs have nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.core.management.base import OutputWrapper

_WIDTH = 30


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
