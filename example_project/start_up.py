"""What a worker does once before it serves."""

import ctypes
import gc
import sys
from contextlib import suppress
from importlib import import_module

from django.conf import settings

_M_ARENA_MAX = -8  # of mallopt(3)
_ARENAS = 2


def share_arenas() -> None:
    """Let all threads allocate from two arenas, as `MALLOC_ARENA_MAX=2` in the environment does.

    By default glibc gives threads up to eight arenas per core, and each keeps what was freed. A
    password hash takes 19 MiB, so a flood of logins would leave hundreds of MiB behind.
    """
    if sys.platform == "linux":
        with suppress(AttributeError, OSError):  # another C library
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


def load_routes() -> None:
    """Load what the first request would, and take what is loaded out of the collector's sight.

    The collector waits for garbage in proportion to what it keeps, and looks through all of it
    (CPython's `gc` module). What is loaded by now stays for good: without it collections are short,
    and the garbage of requests does not add up to megabytes before the next one.
    """
    import_module(settings.ROOT_URLCONF)
    gc.freeze()
    gc.collect()  # also makes the collector count anew what it keeps
