"""One run at a time on one machine: two would measure each other."""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = Path(tempfile.gettempdir()) / "authservice-benchmarks.lock"


@contextmanager
def taken() -> Iterator[None]:
    """Wait until no other run is under way, and keep others waiting."""
    with LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another run to end", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
