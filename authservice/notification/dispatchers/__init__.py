"""Fills the slot `messenger`: passes a job to a dispatcher.

Dispatchers are callables that return at once; the worker gets the `Message`.
"""

from __future__ import annotations

from collections.abc import Callable

from authservice.core.messages import kinds
from authservice.kernel.message_queue import Message, Messenger
from authservice.kernel.settings import cached, pluggable
from authservice.notification import worker
from authservice.notification.conf import conf

Dispatcher = Callable[[Message], None]
_PATHS = {
    "thread": f"{__name__}.background.dispatch",
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


class _Messenger(Messenger):
    @property
    def can_sms(self) -> bool:
        return bool(conf.sms_sender)

    def send(self, message: Message) -> None:
        """Dispatch the job, unless the host has turned off messages of this kind. `captured` adds
        the state of the current request, if the project has set `CAPTURE`."""
        switches = {
            kinds.WELCOME: conf.welcome,
            kinds.NEW_DEVICE: conf.new_device,
            kinds.NEW_DEVICES: conf.new_device,
        }
        if switches.get(message.kind, True):
            dispatcher()(worker.captured(message))


messenger = _Messenger()
