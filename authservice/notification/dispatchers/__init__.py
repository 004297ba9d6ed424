"""Dispatchers pass a `Message` from the request to the worker: callables that return at once."""

from __future__ import annotations

from collections.abc import Callable

from authservice.kernel.message_queue import Message
from authservice.kernel.settings import cached, pluggable
from authservice.notification.conf import conf

Dispatcher = Callable[[Message], None]
_PATHS = {
    "thread": f"{__name__}.thread.dispatch",
    "tasks": f"{__name__}.tasks.dispatch",
    "celery": f"{__name__}.celery.dispatch",
    # Within the request, for tests only: the response time reveals if an address is known.
    "inline": "authservice.notification.worker.deliver",
}


@cached
def dispatcher() -> Dispatcher:
    """The dispatcher of `NOTIFICATION.DISPATCHER`."""
    chosen: Dispatcher = pluggable(conf.dispatcher, _PATHS)
    return chosen
