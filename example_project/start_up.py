"""What a worker process does once before it serves requests, and how the project is started."""

import ctypes
import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from django.conf import settings

_M_ARENA_MAX = -8  # of mallopt(3)
_ARENAS = 2


def share_arenas() -> None:
    """Make all threads share two memory arenas, as `MALLOC_ARENA_MAX=2` in the environment does.

    By default glibc creates up to eight arenas per core, and each keeps freed memory. A password
    hash takes 19 MiB, so a flood of logins would leave hundreds of MiB allocated.
    """
    if sys.platform == "linux":
        with suppress(AttributeError, OSError):  # not glibc
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


def load_routes() -> None:
    """Load what the first request would load, and exclude all loaded objects from the collector.

    The collector delays a full collection in proportion to the objects it tracks, and scans all of
    them (CPython's `gc` module). Objects loaded by now stay permanently: without them collections
    are short, and garbage of requests does not grow to megabytes before the next collection.
    """
    import_module(settings.ROOT_URLCONF)
    gc.freeze()
    gc.collect()  # also makes the collector count its tracked objects again


def manage() -> str:
    """The command that runs manage.py with this interpreter, with paths relative to the current
    folder if they are below it."""
    return f"{_short(Path(sys.executable))} {_short(Path(__file__).with_name('manage.py'))}"


def _short(path: Path) -> str:
    here = Path.cwd()
    return os.path.relpath(path, here) if path.is_relative_to(here) else str(path)
