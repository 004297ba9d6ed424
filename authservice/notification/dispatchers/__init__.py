"""Dispatchers pass a `Message` from the request to the worker: callables that return at once."""

from __future__ import annotations

from collections.abc import Callable

from authservice.kernel.message_queue import Message
from authservice.kernel.settings import cached, pluggable
from authservice.notification.conf import conf

Dispatcher = Callable[[Message], None]
DISPATCHERS = {
    name: f"{__name__}.{name}.dispatch" for name in ("thread", "tasks", "celery", "inline")
}


@cached
def dispatcher() -> Dispatcher:
    """The dispatcher of `NOTIFICATION.DISPATCHER`."""
    found: Dispatcher = pluggable(conf.dispatcher, DISPATCHERS)
    return found
