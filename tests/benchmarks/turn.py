"""Allow one run at a time on a machine: parallel runs would distort each other's figures."""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = Path(tempfile.gettempdir()) / "authservice-benchmarks.lock"


@contextmanager
def taken() -> Iterator[None]:
    """Wait until no other run is active, and make later runs wait."""
    with LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another run to end", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
