"""Dispatchers pass a `Message` from the request to the worker: callables that return at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from django.utils.module_loading import import_string

from authservice.kernel.message_queue import Message
from authservice.kernel.settings import on_change
from authservice.notification.conf import conf

Dispatcher = Callable[[Message], None]
DISPATCHERS = ("thread", "tasks", "celery", "inline")


@cache
def dispatcher() -> Dispatcher:
    """The dispatcher of `NOTIFICATION.DISPATCHER`."""
    chosen = conf.dispatcher
    path = f"{__name__}.{chosen}.dispatch" if chosen in DISPATCHERS else chosen
    found: Dispatcher = import_string(path)
    return found


@on_change
def _forget() -> None:
    dispatcher.cache_clear()
