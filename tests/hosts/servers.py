"""The example project under real servers, with its own database and below a URL prefix."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.hosts.runs import ROOT
from tests.notification.servers import Sink
from tests.support.ports import free_port
from tests.support.processes import environment, started, wait_for

PREFIX = "/app"
_PATIENCE = 60  # seconds until a request without response fails the test
_GUNICORN = ("gunicorn", "--worker-class", "gthread", "--threads", "8", "example_project.wsgi")
_UVICORN = ("uvicorn", "--log-level", "warning", "example_project.asgi:application")


@dataclass(frozen=True)
class Kind:
    """A server; if `strips_prefix`, a proxy in front of it removes the prefix from paths."""

    name: str
    command: tuple[str, ...]
    address: str
    strips_prefix: bool


GUNICORN = Kind("gunicorn", _GUNICORN, "--bind=127.0.0.1:{port}", strips_prefix=False)
UVICORN = Kind("uvicorn", (*_UVICORN, f"--root-path={PREFIX}"), "--port={port}", strips_prefix=True)


@dataclass
class Server:
    """A running service."""

    kind: Kind
    port: int
    pid: int
    sink: Sink

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base(self) -> str:
        return "/auth/" if self.kind.strips_prefix else f"{PREFIX}/auth/"

    def call(self, method: str, path: str, token: str = "", **body: Any) -> tuple[int, Any]:
        """Status and `data` of a request on a new connection."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if method != "GET":
            headers["Content-Type"] = "application/json"
        raw = json.dumps(body) if method != "GET" else None
        connection = HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        try:
            connection.request(method, self.base + path, raw, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())["data"]
        finally:
            connection.close()

    def post(self, path: str, token: str = "", **body: Any) -> tuple[int, Any]:
        return self.call("POST", path, token, **body)

    def resources(self) -> tuple[int, int]:
        """The number of threads and of open files of the server and its workers."""
        pids = [self.pid, *_children(self.pid)]
        return sum(_count(pid, "task") for pid in pids), sum(_count(pid, "fd") for pid in pids)


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in listed.split()]


def _count(pid: int, what: str) -> int:
    return len(list(Path(f"/proc/{pid}/{what}").iterdir()))


@contextmanager
def served(kind: Kind, folder: Path, **more: str) -> Iterator[Server]:
    """Migrate and start the service; its e-mails go to the `sink` of the server. `more` are further
    environment variables of the example project."""
    port = free_port()
    with own_database(kind.name, folder) as url, Sink() as sink:
        variables = {**_variables(kind, port, url, sink), **more}
        migrate = [sys.executable, "example_project/manage.py", "migrate", "-v", "0"]
        subprocess.run(migrate, cwd=ROOT, env=variables, check=True)
        log, command = folder / "server.log", [*kind.command, kind.address.format(port=port)]
        with started("-m", *command, log=log, variables=variables) as running:
            server = Server(kind, port, running.pid, sink)
            wait_for(lambda: answers(server), log)
            yield server


def _variables(kind: Kind, port: int, url: str, sink: Sink) -> dict[str, str]:
    given = {
        "AUTHSERVICE_API_URL": f"http://127.0.0.1:{port}{PREFIX}",
        "AUTHSERVICE_THROTTLE": "0",
        "DATABASE_URL": url,
        "DEBUG": "0",
        "EMAIL_URL": f"smtp://127.0.0.1:{sink.port}",
        "SECRET_KEY": "a secret of the tests, long enough to be a key",
    }
    return environment(**given, **({} if kind.strips_prefix else {"SCRIPT_NAME": PREFIX}))


def answers(server: Server) -> None:
    assert server.call("GET", "me")[0] == 401


@contextmanager
def own_database(name: str, folder: Path) -> Iterator[str]:
    """A new database on PostgreSQL if the suite runs on it, otherwise an SQLite file."""
    given: Mapping[str, str] = os.environ
    parts = urlsplit(given.get("DATABASE_URL", ""))
    if not parts.scheme.startswith("postgres"):
        yield f"sqlite:///{folder}/db.sqlite3"
        return
    import psycopg

    own = "_".join(filter(None, [parts.path[1:], "served", name, given.get("PYTEST_XDIST_WORKER")]))
    administration = parts._replace(scheme="postgresql", path="/postgres").geturl()
    drop = f'DROP DATABASE IF EXISTS "{own}" WITH (FORCE)'
    with psycopg.connect(administration, autocommit=True) as connection:
        connection.execute(drop)
        connection.execute(f'CREATE DATABASE "{own}"')
        try:
            yield parts._replace(path=f"/{own}").geturl()
        finally:
            connection.execute(drop)
