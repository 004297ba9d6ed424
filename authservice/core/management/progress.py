"""The progress bar of commands that read long tables."""

from __future__ import annotations

from django.core.management.base import OutputWrapper

_WIDTH = 30


def show_progress(stream: OutputWrapper, done: int, total: int) -> None:
    """Redraw the bar; a stream that is not a terminal gets none."""
    if not stream.isatty():
        return
    filled = _WIDTH * done // max(total, 1)
    bar = "#" * filled + "." * (_WIDTH - filled)
    stream.write(f"\r[{bar}] {100 * done // max(total, 1)}%", ending="")
    if done >= total:
        stream.write("")
