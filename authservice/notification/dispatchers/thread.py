"""In a thread of the same process: nothing to install, and what a crash takes along is lost."""

from __future__ import annotations

from authservice.kernel.message_queue import Message
from authservice.notification import worker
from authservice.notification.dispatchers.lanes import Lanes

lanes = Lanes(worker.attempt)


def dispatch(message: Message) -> None:
    lanes.put(message, message.delay)
