"""HAProxy, PgBouncer, Redis and Sentinel with the files of `docs/running/deployment`."""

from __future__ import annotations

import csv
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path

from tests.faults.cache import Redis
from tests.faults.cluster import PASSWORD, ROLE
from tests.hosts.runs import ROOT
from tests.support.ports import free_port

DEPLOYMENT = ROOT / "docs" / "running" / "deployment"
REDIS_PASSWORD = "redis-password"
_PATIENCE = 30  # seconds


def wait_until(done: Callable[[], object], what: str, seconds: float = _PATIENCE) -> float:
    """The seconds until `done()`. Raises `AssertionError` if that takes too long."""
    began = time.monotonic()
    while not done():
        if time.monotonic() - began > seconds:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.05)
    return time.monotonic() - began


class Program:
    """A process whose output goes to a file."""

    def __init__(self, folder: Path, *command: str, **variables: str) -> None:
        self.log = folder / f"{Path(command[0]).name}.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                env={**os.environ, **variables},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


class HAProxy(Program):
    """`addresses` are the variables of `haproxy.cfg`; those that it listens at get free ports."""

    def __init__(self, folder: Path, **addresses: str) -> None:
        self.web, self.postgresql, self.redis = free_port(), free_port(), free_port()
        self._socket = str(folder / "haproxy.socket")
        super().__init__(
            *(folder, "haproxy", "-db", "-f", str(DEPLOYMENT / "haproxy.cfg")),
            ADMIN_SOCKET=self._socket,
            WEB=at(self.web),
            POSTGRESQL=at(self.postgresql),
            REDIS=at(self.redis),
            REDIS_PASSWORD=REDIS_PASSWORD,
            **{"BALANCERS": "127.0.0.1", **addresses},
        )

    def command(self, text: str) -> str:
        """The response of the admin socket."""
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(self._socket)
            line.sendall(text.encode() + b"\n")
            return b"".join(iter(lambda: line.recv(65536), b"")).decode()

    def is_up(self, backend: str, server: str) -> bool:
        return self._state(backend, server)["status"].startswith("UP")

    def wait_for(self, backend: str, server: str) -> None:
        wait_until(lambda: self.is_up(backend, server), f"{backend}/{server} is up")

    def drain(self, server: str) -> None:
        """No new request for this web server; returns when it has answered the last one."""
        self.command(f"set server service/{server} state drain")
        for backend in ("service", "passwords"):
            wait_until(
                lambda name=backend: self._state(name, server)["scur"] == "0",
                f"{server} has no requests",
            )

    def use(self, server: str) -> None:
        self.command(f"set server service/{server} state ready")
        self.wait_for("service", server)

    def _state(self, backend: str, server: str) -> dict[str, str]:
        try:
            rows = csv.DictReader(StringIO(self.command("show stat").removeprefix("# ")))
        except OSError:  # it is starting
            return {"status": "", "scur": ""}
        return next(row for row in rows if (row["pxname"], row["svname"]) == (backend, server))


class PgBouncer(Program):
    """One pool in transaction mode, before the port of HAProxy."""

    def __init__(self, folder: Path, target: int) -> None:
        self.port = free_port()
        users, file = folder / "users.txt", folder / "pgbouncer.ini"
        users.write_text(f'"{ROLE}" "{PASSWORD}"\n')
        file.write_text(
            replaced(
                (DEPLOYMENT / "pgbouncer.ini").read_text(),
                ("host=haproxy port=5432", f"host=127.0.0.1 port={target}"),
                ("listen_addr = *", "listen_addr = 127.0.0.1"),
                ("listen_port = 6432", f"listen_port = {self.port}"),
                ("/etc/pgbouncer/users.txt", str(users)),
            )
        )
        # It refuses to run as root, and takes its files as that user.
        as_user = ["-u", "postgres"] if os.geteuid() == 0 else []
        super().__init__(folder, "pgbouncer", *as_user, str(file))


class Caches:
    """A Redis server, its replica, and three sentinels."""

    def __init__(self, folder: Path) -> None:
        folders = [folder / f"redis-{number}" for number in range(5)]
        for each in folders:
            each.mkdir()
        self.servers = [Redis(each, REDIS_PASSWORD) for each in folders[:2]]
        master = self.servers[0]
        self.servers[1].command("REPLICAOF", "127.0.0.1", str(master.port))
        self._sentinels = [_sentinel(each, master.port) for each in folders[2:]]

    def stop(self) -> None:
        for sentinel in self._sentinels:
            sentinel.stop()
        for server in self.servers:
            server.kill()


def _sentinel(folder: Path, master: int) -> Program:
    file = folder / "sentinel.conf"
    file.write_text(
        replaced(
            (DEPLOYMENT / "sentinel.conf").read_text(),
            ("port 26379", f"port {free_port()}\nbind 127.0.0.1\ndir {folder}"),
            ("redis-one 6379", f"127.0.0.1 {master}"),
        )
        + f"sentinel auth-pass shop {REDIS_PASSWORD}\n"
    )
    return Program(folder, "redis-server", str(file), "--sentinel")


def at(port: int) -> str:
    return f"127.0.0.1:{port}"


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """The text with other addresses. Raises `AssertionError` if one is missing."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def missing() -> list[str]:
    """The programs that are not installed."""
    names = ["haproxy", "pgbouncer", "redis-server"]
    return [name for name in names if not shutil.which(name)]
