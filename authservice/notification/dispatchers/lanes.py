"""Two queues, so that a message that a user waits for never waits behind notices.

An attacker can trigger any number of notices. Their queue has its own thread and size: if it is
full or slow, links and codes are still sent.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from authservice.kernel.message_queue import Message
from authservice.notification.dispatchers.background import Background


class Lanes:
    """`run` is described at `Background`; `put` never waits for it."""

    def __init__(self, run: Callable[[Message, int], str]) -> None:
        # When the process ends, the queue that was created last is drained first.
        self.notices = Background(run)
        self.waited_for = Background(run)

    def put(self, message: Message, delay: timedelta = timedelta(0)) -> None:
        """Enqueue the job; it runs after the delay."""
        lane = self.notices if message.is_notice else self.waited_for
        lane.put(message, delay)

    def drain(self) -> None:
        self.waited_for.drain()
        self.notices.drain()
