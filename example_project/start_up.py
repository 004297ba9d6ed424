"""What a worker does once before it serves."""

import gc
from importlib import import_module

from django.conf import settings


def load_routes() -> None:
    """Load what the first request would, and take what is loaded out of the collector's sight.

    The collector waits for garbage in proportion to what it keeps, and looks through all of it
    (CPython's `gc` module). What is loaded by now stays for good: without it collections are short,
    and the garbage of requests does not add up to megabytes before the next one.
    """
    import_module(settings.ROOT_URLCONF)
    gc.freeze()
    gc.collect()  # also makes the collector count anew what it keeps
