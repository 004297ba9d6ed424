"""The example project under gunicorn, with all modules; it is started once and not again."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from tests.hosts.runs import ROOT
from tests.support import processes
from tests.support.ports import free_port

WORKERS = 2
_PATIENCE = 30  # seconds until a response that does not come counts as none
_NUMBERS = itertools.count(1)
SECRET_KEY = "a secret of the tests, long enough to be a key"


@dataclass(frozen=True)
class Reply:
    """A response; status 0 if there was none."""

    status: int
    data: Any = None
    retry_after: str = ""

    @property
    def code(self) -> str:
        return str((self.data or {}).get("code", "")) if isinstance(self.data, dict) else ""

    @property
    def known(self) -> bool:
        """Whether the client knows if the action happened."""
        return self.status not in (0, 500, 502, 503)


class Line:
    """A connection of one client to the service, opened again when it broke."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connection: HTTPConnection | None = None

    def call(self, method: str, path: str, bearer: str = "", /, **body: Any) -> Reply:
        headers = {"Content-Type": "application/json", "X-Forwarded-For": _address()}
        if bearer:
            headers["Authorization"] = f"Bearer {bearer}"
        if self._connection is None:
            self._connection = HTTPConnection("127.0.0.1", self._port, timeout=_PATIENCE)
        try:
            self._connection.request(method, "/auth/" + path, json.dumps(body), headers)
            answer = self._connection.getresponse()
            raw = answer.read()
            return Reply(answer.status, _data(raw), answer.headers.get("Retry-After", ""))
        except (OSError, HTTPException):
            self.close()
            return Reply(0)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def _address() -> str:
    """Another network for each request: no rate limit and no limit on attempts is reached."""
    number = next(_NUMBERS)
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def _data(raw: bytes) -> Any:
    try:
        return json.loads(raw)["data"]
    except ValueError:
        return None


@dataclass
class Service:
    port: int
    log: Path
    process: subprocess.Popen[bytes]

    def workers(self) -> set[int]:
        pid = self.process.pid
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return {int(child) for child in listed.split()}

    @property
    def logged(self) -> str:
        return self.log.read_text(errors="replace")


@contextmanager
def served(folder: Path, **variables: str) -> Iterator[Service]:
    """Migrate and start the service; `variables` are those of the example project."""
    port = free_port()
    environment = {**processes.environment(**_variables(port)), **variables}
    manage = [sys.executable, "example_project/manage.py", "migrate", "-v", "0"]
    subprocess.run(manage, cwd=ROOT, env=environment, check=True)
    server = ["gunicorn", f"--workers={WORKERS}", "--worker-class=gthread", "--threads=8"]
    # After a pause of a client, gunicorn would close the connection just when the next request
    # arrives: a request without a response that no fault has caused.
    command = [*server, "--keep-alive=75", f"--bind=127.0.0.1:{port}", "example_project.wsgi"]
    log = folder / "service.log"
    with processes.started("-m", *command, log=log, variables=environment) as process:
        service = Service(port, log, process)
        _wait_for(service)
        yield service


def _variables(port: int) -> dict[str, str]:
    return {
        "AUTHSERVICE_API_URL": f"http://127.0.0.1:{port}",
        "AUTHSERVICE_THROTTLE": "0",
        "AUTHSERVICE_TRUSTED_PROXIES": "1",
        "DEBUG": "0",
        "DJANGO_SETTINGS_MODULE": "tests.faults.settings",
        # Options of the suite for its own PostgreSQL.
        "PGOPTIONS": "",
        "SECRET_KEY": SECRET_KEY,
    }


def _wait_for(service: Service) -> None:
    end = time.monotonic() + 60
    with closing(Line(service.port)) as line:
        while line.call("GET", "me").status != 401:
            if time.monotonic() > end or service.process.poll() is not None:
                raise RuntimeError(service.logged)
            time.sleep(0.1)
    while len(service.workers()) < WORKERS:
        time.sleep(0.1)
