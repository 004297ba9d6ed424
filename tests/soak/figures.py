"""What must not grow, read once a minute, and how long requests take meanwhile."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import mean, quantiles
from threading import Event, Thread

from tests.benchmarks.servers import memory
from tests.faults.runs import Run
from tests.faults.service import Line

_PACE = 0.1  # seconds between two requests of the probe
_ACCOUNT = {"email": "probe@example.com", "password": "plum tart 42 windows"}
_ROWS = """
SELECT coalesce(sum(n_live_tup) FILTER (WHERE relname SIMILAR TO '%%(session|entry)'), 0),
    coalesce(sum(n_live_tup) FILTER (WHERE relname SIMILAR TO '%%(token|counter)'), 0),
    coalesce(sum(n_dead_tup), 0)
FROM pg_stat_user_tables
"""
_CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'shop'"
# By how much a figure of the last minutes may exceed that of the first ones.
_ALLOWED = {
    "memory": 1.05,
    "files": 1.1,
    "connections": 1.1,
    "rows": 1.2,
    "dead": 2.0,
    "p50": 1.3,
    "p99": 2.0,
}


class Probe:
    """Sends GET /me ten times a second, apart from the clients, and measures it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._times: list[float] = []
        self._over = Event()
        self.failed: list[str] = []

    def __enter__(self) -> Probe:
        self._thread = Thread(target=self._work)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _work(self) -> None:
        with closing(Line(self._port)) as line:
            line.call("POST", "signup", **_ACCOUNT)
            token = ""
            while not self._over.is_set():
                if not token:
                    token = line.call("POST", "login", **_ACCOUNT).data["access_token"]
                began = time.perf_counter()
                status = line.call("GET", "me", token).status
                self._times.append((time.perf_counter() - began) * 1000)
                if status == 401:
                    token = ""  # it has expired
                elif status != 200:
                    self.failed.append(f"GET /me of the probe: {status}")
                self._over.wait(_PACE)

    def latencies(self) -> tuple[float, float]:
        """Median and 99th percentile since the last call, in milliseconds."""
        times, self._times = self._times, []
        cuts = quantiles(times, n=100)
        return cuts[49], cuts[98]


@dataclass(frozen=True)
class Figures:
    """Memory is that of both workers, proportional, in MB; `files` are those that they have open;
    `rows` are sessions and audit entries; `kept` are one-time tokens and counters of attempts,
    which a cleanup deletes after a day at the earliest; `p50` and `p99` are of GET /me in ms."""

    memory: float
    files: int
    connections: int
    rows: int
    kept: int
    dead: int
    p50: float
    p99: float

    @classmethod
    def now(cls, run: Run, probe: Probe) -> Figures:
        workers = run.service.workers()
        [[rows, kept, dead]] = run.world.cluster.run(_ROWS)
        [[connections]] = run.world.cluster.run(_CONNECTIONS)
        return cls(
            sum(memory(str(pid))["Pss"] for pid in workers),
            sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in workers),
            int(connections),
            int(rows),
            int(kept),
            int(dead),
            *probe.latencies(),
        )

    def __str__(self) -> str:
        pairs = zip(fields(self), astuple(self), strict=True)
        return "  ".join(f"{field.name} {value:,.6g}" for field, value in pairs)


def grown(lines: Sequence[Figures]) -> list[str]:
    """The figures whose mean over the last third exceeds that over the first third too much."""
    third = max(len(lines) // 3, 1)
    wrong = []
    for name, allowed in _ALLOWED.items():
        first = mean(getattr(line, name) for line in lines[:third])
        last = mean(getattr(line, name) for line in lines[-third:])
        if last > first * allowed:
            wrong.append(f"{name} grew from {first:.1f} to {last:.1f}")
    return wrong
