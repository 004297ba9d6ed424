"""Many concurrent requests, each in a thread with its own database connection."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest
from django.db import connections

from tests.support.client import Answer

SIZE = 32
_PATIENCE = 60  # seconds until a missing thread fails the test instead of blocking it


class Crowd:
    """Threads that are reused for each round, so that no connection is opened during a race."""

    def __init__(self, size: int = SIZE) -> None:
        self._size = size
        self._threads = ThreadPoolExecutor(size)

    def race(self, contenders: Iterable[Callable[[], Any]]) -> list[Any]:
        """Start all contenders together, at most one per thread, and return their results."""
        waiting = list(contenders)
        # No thread is free while they wait at the barrier, so each contender has its own.
        start = Barrier(len(waiting))
        runs = [self._threads.submit(_run, contender, start) for contender in waiting]
        return [run.result() for run in runs]

    def all_do(self, contender: Callable[[], Any]) -> list[Any]:
        """Run one contender `SIZE` times concurrently."""
        return self.race([contender] * SIZE)

    def close(self) -> None:
        all_threads = Barrier(self._size)
        for run in [self._threads.submit(_disconnect, all_threads) for _ in range(self._size)]:
            run.result()
        self._threads.shutdown()


def _run(contender: Callable[[], Any], start: Barrier) -> Any:
    try:
        _connect()
    except Exception:
        start.abort()  # otherwise the others would wait for this one
        raise
    start.wait(_PATIENCE)
    return contender()


def _connect() -> None:
    for connection in connections.all():
        connection.ensure_connection()
        # The test client keeps connections open after a request by disconnecting a receiver, but in
        # one thread only.
        connection.close_at = None


def _disconnect(all_threads: Barrier) -> None:
    all_threads.wait(_PATIENCE)  # so that each thread does it exactly once
    connections.close_all()


def asked_rounds(default: int) -> range:
    """The rounds of a race: as many as `RACE_ROUNDS` in the environment asks for."""
    return range(int(os.environ.get("RACE_ROUNDS", default)))


@contextmanager
def crowd_limit() -> Iterator[None]:
    """Allow at most two crowds at once: a database server accepts 100 connections by default."""
    fcntl = pytest.importorskip("fcntl", reason="requires the file locks of Unix")
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    lock = Path(gettempdir(), f"authservice-crowd-{os.getuid()}-{worker % 2}.lock")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def synchronise(monkeypatch: pytest.MonkeyPatch, *actions: tuple[Any, str]) -> None:
    """From now on, a call of one of these functions waits up to two seconds for a second call."""
    barrier = Barrier(2)

    def meeting(action: Callable[..., Any]) -> Callable[..., Any]:
        def meet(*args: Any, **options: Any) -> Any:
            with suppress(BrokenBarrierError):
                barrier.wait(2)
            return action(*args, **options)

        return meet

    for place, name in actions:
        monkeypatch.setattr(place, name, meeting(getattr(place, name)))


def tally(answers: Iterable[Answer]) -> Counter[int | str]:
    """The number of responses with each status, or with each code for refusals."""
    return Counter(a.status if a.status < 400 else a.code for a in answers)
