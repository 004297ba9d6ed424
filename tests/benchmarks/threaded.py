"""The threaded server of `docs/running.rst`, and how long one client waits for it."""

from __future__ import annotations

import http.client
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles

from tests.benchmarks import environment, servers, sides

PACE = 50  # requests per second
# The command of docs/running.rst on a machine with two cores.
SERVER = ["--workers", "2", "--worker-class", "gthread", "--threads", "8"]


@contextmanager
def served(side: sides.Side, log: Path) -> Iterator[servers.Server]:
    port = servers.free_port()
    command = [str(side.python), "-m", "gunicorn", *SERVER, "--bind", f"127.0.0.1:{port}"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, side.wsgi],
            cwd=environment.ROOT,
            env=side.environment,
            stdout=output,
            stderr=output,
        )
        try:
            server = servers.Server(side, port, process)
            servers.wait_until_ready(server, log)
            yield server
        finally:
            process.terminate()
            process.wait(timeout=30)


def sample(port: int, token: str, seconds: int) -> float:
    """The 99th percentile of GET /me in milliseconds."""
    return percentile(samples(port, token, seconds), 99)


def percentile(times: list[float], wanted: int) -> float:
    return quantiles(times, n=100)[wanted - 1]


def samples(port: int, token: str, seconds: int) -> list[float]:
    """The times of GET /me in milliseconds, each measured from when the request was due."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Authorization": f"Bearer {token}"}
    started, times = time.perf_counter(), []
    for number in range(seconds * PACE):
        due = started + number / PACE
        time.sleep(max(0.0, due - time.perf_counter()))
        connection.request("GET", "/auth/me", headers=headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        times.append((time.perf_counter() - due) * 1000)
    return times
