"""Programs in processes of their own, such as a server, for the time of a test."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_PATIENCE = 60  # seconds until a server without response fails the test
_OF_THIS_RUN = ("PYTEST_", "COV_", "AUTHSERVICE", "DJANGO_")


def environment(**more: str) -> dict[str, str]:
    """The environment without variables of this test run, and with `more`."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(_OF_THIS_RUN)}
    return {**kept, "PYTHONPATH": str(_ROOT), **more}


def output_of(*command: str | Path, variables: dict[str, str], folder: Path | None = None) -> str:
    """Run a command that must succeed, and return its output."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@contextmanager
def started(
    *command: str, log: Path, variables: dict[str, str], folder: Path = _ROOT
) -> Iterator[subprocess.Popen[bytes]]:
    """Run `python …` in this folder until the end of the block; its output is added to `log`."""
    with log.open("ab") as opened:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=opened,
            stderr=opened,
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def wait_for(request: Callable[[], object], log: Path) -> None:
    """Repeat a request until the server accepts the connection."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        try:
            request()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(log.read_text())
