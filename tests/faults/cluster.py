"""A private PostgreSQL server in a folder of its own, which a fault may stop, fill or replace."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import Any

import psycopg

from tests.support.ports import free_port

DATABASE, ROLE, PASSWORD = "shop", "shop", "the-password-of-the-database-role"
OTHERS = "other clients"  # the name of connections of the same role that are not the service's
TERMINATE = f"""SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE usename = '{ROLE}' AND application_name <> '{OTHERS}'"""
# Django's default options instead of those of the example project, so that the service, and not
# psycopg, chooses which statements to prepare.
DEFAULTS = "&server_side_binding=False&prepare_threshold=None"
_SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = '{folder}'
port = {port}
fsync = off
max_connections = 30
wal_keep_size = '64MB'
min_wal_size = '32MB'
max_wal_size = '64MB'
shared_buffers = '16MB'
logging_collector = off
"""


class Cluster:
    """One server. Superusers connect through its socket, the service by TCP and with a password."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.log = folder / "postgresql.log"
        self.port = free_port()
        folder.mkdir(parents=True, exist_ok=True)
        _give_away(folder)

    def create(self) -> None:
        """Initialise and start the server, with an empty database that the service's role owns."""
        _run("initdb", "-D", self.data, "-U", "postgres", "-A", "scram-sha-256", "--no-sync",
             "--auth-local=trust", "-E", "UTF8", "--locale=C.UTF-8")  # fmt: skip
        self.configure()
        self.start()
        self.populate()

    def populate(self) -> None:
        self.run(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'", database="postgres")
        self.run(f"CREATE DATABASE {DATABASE} OWNER {ROLE}", database="postgres")

    def copy_of(self, primary: Cluster) -> None:
        """Become a running standby of `primary`, which from now on waits for it at each commit."""
        _run("pg_basebackup", "-D", self.data, "-h", primary.folder, "-p", str(primary.port),
             "-U", "postgres", "-R", "-X", "stream", "-c", "fast", "--no-sync")  # fmt: skip
        self.configure()
        self.start()
        primary.alter(synchronous_standby_names="*")

    def configure(self) -> None:
        text = _SETTINGS.format(folder=self.folder, port=self.port)
        # The last value of a setting in the file is the one that counts.
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(text)

    def start(self) -> None:
        _run("pg_ctl", "-D", self.data, "-l", self.log, "-w", "-t", "60", "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server. `immediate` is a crash: nothing is flushed, connections are cut."""
        _run("pg_ctl", "-D", self.data, "-m", mode, "-w", "stop")

    def promote(self) -> None:
        _run("pg_ctl", "-D", self.data, "-w", "promote")

    @property
    def running(self) -> bool:
        status = _command("pg_ctl", "-D", self.data, "status")
        return subprocess.run(status, capture_output=True, check=False).returncode == 0

    def connect(self, database: str = DATABASE) -> psycopg.Connection[Any]:
        """A connection of the superuser, through the socket."""
        return psycopg.connect(
            host=str(self.folder), port=self.port, user="postgres", dbname=database, autocommit=True
        )

    def run(self, sql: str, *values: Any, database: str = DATABASE) -> list[Any]:
        """The rows of a statement, if it has any."""
        with self.connect(database) as connection:
            cursor = connection.execute(sql, values)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []

    def alter(self, **settings: str) -> None:
        """Change settings of the running server."""
        for name, value in settings.items():
            self.run(f"ALTER SYSTEM SET {name} = '{value}'")
        self.run("SELECT pg_reload_conf()")

    def terminate(self) -> None:
        """Kill every connection of the service."""
        self.run(TERMINATE)

    def url(self, port: int = 0, options: str = "") -> str:
        """The service's `DATABASE_URL`; `port` is that of a proxy."""
        place = f"127.0.0.1:{port or self.port}"
        return f"postgres://{ROLE}:{PASSWORD}@{place}/{DATABASE}?connect_timeout=2{options}"


def _command(program: str, *arguments: object) -> list[str]:
    found = shutil.which(program) or str(max(Path("/usr/lib/postgresql").glob(f"*/bin/{program}")))
    # The server refuses to run as root.
    as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    return [*(as_user if os.geteuid() == 0 else []), found, *map(str, arguments)]


def _run(program: str, *arguments: object) -> None:
    # Output goes to a file: the server would inherit a pipe and keep it open.
    done = subprocess.run(
        _command(program, *arguments),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{program} failed with status {done.returncode}")


def _give_away(folder: Path) -> None:
    """Make the user of the server the owner of its folder, which its parents let through."""
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
