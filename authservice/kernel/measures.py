"""Signals for `authservice.metrics`, which measures what is no event of a user: messages, password
hashes and calls of other services.

No other module listens to these signals. Without `authservice.metrics` there are no receivers, so a
measurement costs one comparison. Django logs a receiver that fails, and continues.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.dispatch import Signal

SENT, FAILED, LOST = "sent", "failed", "lost"

messages = Signal()  # channel, kind, outcome
# seconds, acquired: how long a request waited for a password hash, and whether it got a slot
hash_waits = Signal()
outbound_calls = Signal()  # service, outcome, seconds


def message(kind: str, target: str, outcome: str) -> None:
    """Report that a message was `SENT`, that an attempt to send it `FAILED`, or that it is `LOST`.
    The receivers learn of the target only whether it is an address or a number."""
    channel = "email" if "@" in target else "sms"
    messages.send_robust(None, channel=channel, kind=kind, outcome=outcome)


class Call:
    """A call of another service; `outcome` is set before the end of the block."""

    outcome = "error"


@contextmanager
def outbound_call(service: str) -> Iterator[Call]:
    """Measures the block, which calls another service."""
    call = Call()
    began = time.monotonic()
    try:
        yield call
    finally:
        seconds = time.monotonic() - began
        outbound_calls.send_robust(None, service=service, outcome=call.outcome, seconds=seconds)
