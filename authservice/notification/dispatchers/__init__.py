"""Dispatchers pass a `Message` from the request to the worker: callables that return at once."""

from __future__ import annotations

from collections.abc import Callable

from authservice.kernel.message_queue import Message
from authservice.kernel.settings import cached, pluggable
from authservice.notification.conf import DISPATCHERS, conf

Dispatcher = Callable[[Message], None]
_PATHS = {name: f"{__name__}.{name}.dispatch" for name in DISPATCHERS}


@cached
def dispatcher() -> Dispatcher:
    """The dispatcher of `NOTIFICATION.DISPATCHER`."""
    found: Dispatcher = pluggable(conf.dispatcher, _PATHS)
    return found
