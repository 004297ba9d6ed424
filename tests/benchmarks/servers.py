"""Start and stop a side's gunicorn; both sides use exactly the same command."""

import http.client
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.environment import ROOT
from tests.benchmarks.errors import BenchmarkError
from tests.benchmarks.sides import Side
from tests.support.ports import free_port

WORKERS = 2
READY_WITHIN = 30.0


@dataclass(frozen=True)
class Server:
    side: Side
    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def post(self, path: str, body: str) -> tuple[int, str]:
        """Status and text of the response to one POST on its own connection."""
        return self.ask("POST", path, body, {"Content-Type": self.side.wire.content_type(path)})

    def ask(
        self, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def worker_memory(self) -> dict[str, float]:
        """Megabytes of the largest worker: `Rss` (resident) and `Pss` (with its share of shared
        pages)."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return max(map(memory, children.read_text().split()), key=lambda used: used["Pss"])


def memory(pid: str) -> dict[str, float]:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    fields = (line.split() for line in lines[1:])
    return {name.rstrip(":"): int(kilobytes) / 1024 for name, kilobytes, _ in fields}


@contextmanager
def served(side: Side, *, log: Path) -> Iterator[Server]:
    """A running server of *side*; its output is written to *log*."""
    port = free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command(side, port), cwd=ROOT, env=side.environment, stdout=output, stderr=output
        )
        try:
            server = Server(side, port, process)
            wait_until_ready(server, log)
            yield server
        finally:
            process.terminate()
            process.wait(timeout=90)


def command(side: Side, port: int) -> list[str]:
    if side.server:
        return [part.replace("{port}", str(port)) for part in side.server]
    options = ["--workers", str(WORKERS), "--worker-class", "sync", "--log-level", "warning"]
    bind = ["--bind", f"127.0.0.1:{port}"]
    return [str(side.python), "-m", "gunicorn", *options, *bind, side.wsgi]


def wait_until_ready(server: Server, log: Path) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while time.monotonic() < deadline and server.process.poll() is None:
        try:
            server.ask("GET", server.side.wire.me)
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise BenchmarkError(f"{server.side.name} does not start:\n{log.read_text()[-3000:]}")
