"""A thousand logins at the same moment, on a server that may use 512 MB of memory."""

from __future__ import annotations

import asyncio
import os
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import servers
from tests.benchmarks.argon2 import HASHER
from tests.benchmarks.matrix import cpu, storm
from tests.benchmarks.matrix.tables import DASH, table

LOGINS = 1000
LIMIT = 512 * 1024 * 1024
WITHIN = 120  # seconds, after which a client gives up
CGROUPS = Path("/sys/fs/cgroup/memory")  # of version 1

# Runs the server in the group of its first argument.
ENTER = 'echo $$ > "$0/cgroup.procs" && exec "$@"'


@dataclass(frozen=True)
class Group:
    """A control group that limits memory, or nothing (`path` is `None`)."""

    path: Path | None

    @property
    def prefix(self) -> tuple[str, ...]:
        return ("sh", "-c", ENTER, str(self.path)) if self.path else ()

    @property
    def peak(self) -> str:
        """Megabytes, with the page cache that the group used."""
        if self.path is None:
            return DASH
        return f"{int(self.read('memory.max_usage_in_bytes')) / 1024**2:.0f}"

    @property
    def kills(self) -> str:
        if self.path is None:
            return DASH
        lines = (line.split() for line in self.read("memory.oom_control").splitlines())
        return dict(lines)["oom_kill"]

    def read(self, name: str) -> str:
        return (self.path / name).read_text().strip()


def report(chosen: Namespace) -> str:
    lines = []
    for kind in storm.KINDS:
        with limited() as group:
            lines.append(logged_in(kind, group, chosen))
            limit = "" if group.path else NO_LIMIT
    header = (
        *(f"{LOGINS:,} logins at once", "200", "503", "Others", "Longest wait of a 200, s"),
        *("Of a 503, s", "Workers at the end", "Peak, MB", "Killed"),
    )
    return table(header, lines, first=20) + limit


NO_LIMIT = """
Memory was not limited in this run: the control groups of the machine cannot be written.
"""


@contextmanager
def limited() -> Iterator[Group]:
    """A control group below the limit; without limit if this machine has no writable ones."""
    path = CGROUPS / f"authservice_benchmark_{os.getpid()}"
    try:
        path.mkdir()
    except OSError:
        yield Group(None)
        return
    try:
        (path / "memory.limit_in_bytes").write_text(str(LIMIT))
        yield Group(path)
    finally:
        empty(path)


def empty(path: Path) -> None:
    """The last process may need a moment to leave the group."""
    for _ in range(50):
        try:
            path.rmdir()
        except OSError:
            time.sleep(0.1)
        else:
            return


def logged_in(kind: str, group: Group, chosen: Namespace) -> tuple[str, ...]:
    with storm.hosted(kind, chosen, hasher=HASHER, before=group.prefix) as server:
        workers = set(cpu.of_server(server))
        answers = asyncio.run(crowd(server))
        left = len(workers & set(cpu.of_server(server)))
        statuses = Counter(status for status, _ in answers)
        others = LOGINS - statuses[200] - statuses[503]
        figures = [str(statuses[200]), str(statuses[503]), str(others)]
        waits = [longest(answers, status) for status in (200, 503)]
        return (kind, *figures, *waits, f"{left} of {len(workers)}", group.peak, group.kills)


def longest(answers: list[tuple[int, float]], wanted: int) -> str:
    times = [seconds for status, seconds in answers if status == wanted]
    return f"{max(times):.1f}" if times else DASH


async def crowd(server: servers.Server) -> list[tuple[int, float]]:
    return await asyncio.gather(*(login(server, number) for number in range(LOGINS)))


async def login(server: servers.Server, number: int) -> tuple[int, float]:
    """The status and the seconds of one login; 0 if there was no answer."""
    started = time.perf_counter()
    try:
        status = await asyncio.wait_for(posted(server, number), WITHIN)
    except (OSError, TimeoutError, EOFError):
        status = 0
    return status, time.perf_counter() - started


async def posted(server: servers.Server, number: int) -> int:
    wire = server.side.wire
    body = wire.login_as(number).encode()
    head = (
        f"POST {wire.login} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        writer.write(head.encode() + body)
        await writer.drain()
        first = await reader.readline()
        await reader.read()
    finally:
        writer.close()
    if not first:
        raise EOFError
    return int(first.split()[1])
