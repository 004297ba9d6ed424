"""Many requests at one instant, each in a thread with a database connection of its own."""

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

from tests.client import Answer

SIZE = 32
_PATIENCE = 60  # seconds until a thread that never came fails the test instead of hanging it


class Crowd:
    """Threads that outlive a round, so that no connection is opened while others already run."""

    def __init__(self, size: int = SIZE) -> None:
        self._size = size
        self._threads = ThreadPoolExecutor(size)

    def race(self, contenders: Iterable[Callable[[], Any]]) -> list[Any]:
        """What each contender, at most as many as threads, returned; all started together."""
        entered = list(contenders)
        # While they wait here no thread is free, so each contender has one to itself.
        start = Barrier(len(entered))
        runs = [self._threads.submit(_run, contender, start) for contender in entered]
        return [run.result() for run in runs]

    def all_do(self, contender: Callable[[], Any]) -> list[Any]:
        """The same, `SIZE` times at once."""
        return self.race([contender] * SIZE)

    def leave(self) -> None:
        everybody = Barrier(self._size)
        for gone in [self._threads.submit(_disconnect, everybody) for _ in range(self._size)]:
            gone.result()
        self._threads.shutdown()


def _run(contender: Callable[[], Any], start: Barrier) -> Any:
    try:
        _connect()
    except Exception:
        start.abort()  # or the others would wait for this one
        raise
    start.wait(_PATIENCE)
    return contender()


def _connect() -> None:
    for connection in connections.all():
        connection.ensure_connection()
        # The test client shields connections from being closed after a request by disconnecting a
        # receiver, which holds for one thread only.
        connection.close_at = None


def _disconnect(everybody: Barrier) -> None:
    everybody.wait(_PATIENCE)  # so that each thread does it, and none does it twice
    connections.close_all()


@contextmanager
def turn() -> Iterator[None]:
    """Within, at most one other process of this machine has a crowd: a server lets 100 in."""
    fcntl = pytest.importorskip("fcntl", reason="needs file locks as Unix has them")
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    lock = Path(gettempdir(), f"authservice-crowd-{os.getuid()}-{worker % 2}.lock")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def crossing(monkeypatch: pytest.MonkeyPatch, *deeds: tuple[Any, str]) -> None:
    """From here on who comes to the one of two deeds waits a moment for who comes to the other."""
    both = Barrier(2)

    def meeting(deed: Callable[..., Any]) -> Callable[..., Any]:
        def meet(*args: Any, **options: Any) -> Any:
            with suppress(BrokenBarrierError):
                both.wait(2)
            return deed(*args, **options)

        return meet

    for place, name in deeds:
        monkeypatch.setattr(place, name, meeting(getattr(place, name)))


def tally(answers: Iterable[Answer]) -> Counter[int | str]:
    """How often each status came, and of refusals each code."""
    return Counter(a.status if a.status < 400 else a.code for a in answers)
