"""Fills the slot `messenger`: passes a job to the dispatcher."""

from __future__ import annotations

from authservice.core.messages import kinds
from authservice.kernel.message_queue import Message, Messenger
from authservice.notification import worker
from authservice.notification.conf import conf
from authservice.notification.dispatchers import dispatcher


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
