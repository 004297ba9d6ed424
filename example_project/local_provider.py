"""The local provider beside `manage.py serve`, in a process of its own.

That process ends when its standard input does. The other end belongs to the server and its workers,
so it closes with the last of them, however that ends.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, Popen
from threading import Thread

import django
from django.core.management import CommandError, call_command

from example_project.oauth import LOCAL_PORT

_ROOT = Path(__file__).resolve().parents[1]


def start() -> None:
    """Start it, before the server takes the place of this process."""
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    command = [sys.executable, "-m", "example_project.local_provider"]
    Popen(command, cwd=_ROOT, stdin=reading, stdout=DEVNULL, stderr=DEVNULL)  # noqa: S603
    os.close(reading)


def _main() -> None:
    Thread(target=_end_with_input, daemon=True).start()
    django.setup()
    # Another one may listen there already, which accepts this service as well.
    with suppress(CommandError):
        call_command("authservice_local_provider", "--name", "oidc", "--port", LOCAL_PORT)


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    _main()
