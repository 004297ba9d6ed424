"""A limit on the password hashes that run concurrently in this process.

A hash takes 19 MiB and keeps a core busy. An ASGI server runs as many requests concurrently as
clients send, so without a limit a few hundred logins would use up the memory of the machine. A
request that gets no slot in time is refused with 503 before anything was hashed.

Hashes run in their own threads, one per slot. glibc's malloc keeps freed memory in an arena of the
thread that allocated it, so hashing in request threads would keep 19 MiB for each of them: 530 MiB
instead of 130, measured with 200 parallel logins. A server that runs requests in the main thread
has only one of them; there a hash runs in the same thread, which saves 0.1 ms of each login.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock, current_thread, main_thread
from typing import TypeVar

from authservice.core.conf import core
from authservice.kernel import errors, settings

WAIT = 2.0  # seconds
T = TypeVar("T")


class _Slots:
    """`number` slots, and as many threads."""

    def __init__(self, number: int) -> None:
        self.free = BoundedSemaphore(number)
        self.threads = ThreadPoolExecutor(number, thread_name_prefix="authservice-hash")


_lock = Lock()
_slots: _Slots | None = None


def run_hash(work: Callable[[], T]) -> T:
    """Run `work`, which hashes or checks a password without a query, and return its result.

    Waits at most `WAIT` seconds for one of `CORE.HASHES_IN_FLIGHT` slots. Raises
    `ServiceUnavailable`. Must not be nested: requests that each hold a slot and wait for another
    would all be refused.
    """
    with _slot() as slots:
        if current_thread() is main_thread():
            return work()
        return slots.threads.submit(work).result()


@contextmanager
def hash_slot() -> Iterator[None]:
    """The same for the host's code, which may run queries: it stays in its own thread."""
    with _slot():
        yield


@contextmanager
def _slot() -> Iterator[_Slots]:
    slots = _current_slots()
    if not slots.free.acquire(timeout=WAIT):
        raise errors.ServiceUnavailable
    try:
        yield slots
    finally:
        slots.free.release()


def limit() -> int:
    """The number of hashes that may run concurrently; by default twice the number of cores."""
    return core.hashes_in_flight or 2 * (os.cpu_count() or 1)


def _current_slots() -> _Slots:
    global _slots
    with _lock:
        if _slots is None:
            _slots = _Slots(limit())
        return _slots


@settings.on_change
def _forget() -> None:
    # Running requests release their slots on the old object.
    global _slots
    with _lock:
        _slots = None


def _after_fork() -> None:
    # After a fork the child has no threads, and perhaps a lock that is never released.
    global _lock, _slots
    _lock, _slots = Lock(), None


os.register_at_fork(after_in_child=_after_fork)
