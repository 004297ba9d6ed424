"""Dispatch to a thread of the same process: requires no other service; a crash loses the queue."""

from __future__ import annotations

from authservice.kernel.message_queue import Message
from authservice.notification import worker
from authservice.notification.dispatchers.background import Lanes

lanes = Lanes(worker.attempt)


def dispatch(message: Message) -> None:
    lanes.put(message, message.delay)
