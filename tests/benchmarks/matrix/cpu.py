"""CPU time that the processes of a server, and its connections in PostgreSQL, have used."""

import os
from pathlib import Path

from tests.benchmarks import databases
from tests.benchmarks.servers import Server

TICK = 1000 / os.sysconf("SC_CLK_TCK")  # milliseconds

# Milliseconds by process.
Used = dict[int, float]


def of_server(server: Server) -> Used:
    """Used by the server's main process and all its descendants."""
    found, waiting = {}, [server.process.pid]
    while waiting:
        pid = waiting.pop()
        found.update(used([pid]))
        waiting += children(pid)
    return found


def of_database(server: Server) -> Used:
    """Used by the database's connections; empty if PostgreSQL runs on another machine."""
    with databases.connection(server.side.database_url) as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchall()
    return used([pid for (pid,) in rows])


def spent(before: Used, after: Used) -> float:
    """Milliseconds between two measurements; processes may have started in between."""
    return sum(total - before.get(pid, 0.0) for pid, total in after.items())


def used(pids: list[int]) -> Used:
    found = {}
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        found[pid] = ticks(text) * TICK
    return found


def ticks(stat: str) -> int:
    """``utime`` and ``stime`` of proc(5); the name of the program may contain spaces."""
    fields = stat.rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def children(pid: int) -> list[int]:
    """Threads other than the first can have started processes too."""
    found = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, listed.read_text().split())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found
