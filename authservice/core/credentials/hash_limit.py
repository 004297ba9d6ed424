"""A limit on the password hashes that run concurrently in this process.

A hash takes 19 MiB and keeps a core busy. An ASGI server runs as many requests concurrently as
clients send, so without a limit a few hundred logins would use up the memory of the machine. A
request that gets no slot in time is refused with 503 before anything was hashed.

Hashes run in their own threads, one per slot. glibc's malloc keeps freed memory in an arena of the
thread that allocated it, so hashing in request threads would keep 19 MiB for each of them: 530 MiB
instead of 130, measured with 200 parallel logins. A server that runs requests in the main thread
has only one of them; there a hash runs in the same thread, which saves 0.1 ms of each login.

An attempt waits for its `turn` before it is counted, so attempts that only wait are not counted:
otherwise many right passwords at once would use up the limit of wrong ones. Only one attempt at a
time for each counter takes a slot. If the counter refuses it, it releases the slot without hashing,
so attempts at a locked account cannot occupy all slots.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from threading import BoundedSemaphore, Lock, RLock, current_thread, main_thread
from time import monotonic, perf_counter
from typing import TypeVar

from authservice.core.conf import core
from authservice.kernel import errors, measures, settings

WAIT = 2.0  # seconds
T = TypeVar("T")


class _Slots:
    """`number` slots, and as many threads."""

    def __init__(self, number: int) -> None:
        self.free = BoundedSemaphore(number)
        self.threads = ThreadPoolExecutor(number, thread_name_prefix="authservice-hash")


class _Turn:
    """The lock of one counter, and how many threads hold it or wait for it."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.threads = 0


_lock = Lock()
_slots: _Slots | None = None
_turns: dict[str, _Turn] = {}
# The slot that `turn` took for the first hash of its block, in a list. That hash removes it.
_reserved: ContextVar[list[_Slots] | None] = ContextVar("authservice_hash_slot", default=None)


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
    """Hold a slot while code of the host hashes a password in this block. That code may run
    queries, so it stays in its own thread. Waits and raises as `run_hash` does."""
    with _slot():
        yield


@contextmanager
def turn(key: str) -> Iterator[None]:
    """In this block the caller counts an attempt, checks the password and gives the attempt back if
    it was right.

    Waits until this process checks no other attempt with the counter `key`, and for a slot, which
    the first hash of the block uses; at most `WAIT` seconds in all. Raises `ServiceUnavailable`.
    """
    deadline = monotonic() + WAIT
    with _lock:
        queue = _turns.setdefault(key, _Turn())
        queue.threads += 1
    try:
        if not queue.lock.acquire(timeout=WAIT):
            measures.hash_waits.send_robust(None, seconds=WAIT, acquired=False)
            raise errors.ServiceUnavailable
        try:
            with _reservation(max(0.0, deadline - monotonic())):
                yield
        finally:
            queue.lock.release()
    finally:
        with _lock:
            queue.threads -= 1
            if not queue.threads:
                _turns.pop(key, None)


@contextmanager
def _reservation(seconds: float) -> Iterator[None]:
    slots = _take(seconds)
    unused = [slots]
    token = _reserved.set(unused)
    try:
        yield
    finally:
        _reserved.reset(token)
        _free(unused)


def free_reserved() -> None:
    """Free the slot of `turn` before code that hashes nothing here, such as a call of another
    server. A later hash waits for a slot again."""
    _free(_reserved.get() or [])


def _free(unused: list[_Slots]) -> None:
    if unused:
        unused.pop().free.release()


@contextmanager
def _slot() -> Iterator[_Slots]:
    unused = _reserved.get()
    slots = unused.pop() if unused else _take(WAIT)
    try:
        yield slots
    finally:
        slots.free.release()


def _take(seconds: float) -> _Slots:
    """Take a slot, waiting at most `seconds`, which are left of `WAIT`. Raises
    `ServiceUnavailable`."""
    slots = _current_slots()
    began = perf_counter()
    acquired = slots.free.acquire(timeout=seconds)
    waited = WAIT - seconds + perf_counter() - began
    measures.hash_waits.send_robust(None, seconds=waited, acquired=acquired)
    if not acquired:
        raise errors.ServiceUnavailable
    return slots


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
    _turns.clear()


os.register_at_fork(after_in_child=_after_fork)
