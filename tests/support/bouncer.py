"""A real PgBouncer in transaction mode before the database of the tests."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.support.ports import free_port

_SECONDS = 10

only_with_bouncer = pytest.mark.skipif(
    shutil.which("pgbouncer") is None, reason="PgBouncer is not installed"
)


@contextmanager
def bouncer(database: dict[str, Any]) -> Iterator[int]:
    """Run PgBouncer with two connections to `database`, a `settings_dict`; yields its port."""
    port = free_port()
    with TemporaryDirectory() as folder:
        file = Path(folder, "pgbouncer.ini")
        file.write_text(_configuration(database, port))
        # It refuses to run as root, and takes its files as that user.
        Path(folder).chmod(0o755)
        process = subprocess.Popen(
            ["pgbouncer", "-q", "-u", "postgres", str(file)], stderr=subprocess.DEVNULL
        )
        try:
            _wait_for(port)
            yield port
        finally:
            process.terminate()
            process.wait(_SECONDS)


def _configuration(database: dict[str, Any], port: int) -> str:
    server = f"host={database['HOST'] or '127.0.0.1'} port={database['PORT'] or 5432}"
    user = f"user={database['USER'] or 'postgres'}"
    return f"""
[databases]
{database["NAME"]} = {server} {user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
ignore_startup_parameters = options
"""


def _wait_for(port: int) -> None:
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError(f"PgBouncer does not listen on port {port} after {_SECONDS} s")
