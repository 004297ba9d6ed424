"""GET /me beside logins with the real Argon2id, and refreshes by many clients at once.

The servers are those of `docs/running.rst`: gunicorn with threads, alone and behind HAProxy, and
uvicorn with a pool.
"""

from __future__ import annotations

import os
import subprocess
import time
from argparse import Namespace
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from tests.benchmarks import databases, environment, load, servers, sides, threaded, wires
from tests.benchmarks.argon2 import HASHER
from tests.benchmarks.errors import BenchmarkError
from tests.benchmarks.matrix.rows import ALL_MODULES, seeded, uvicorn, with_options
from tests.benchmarks.matrix.tables import table, with_range
from tests.machines.programs import HAProxy, at

CLIENTS = (8, 32)  # fewer and more than the threads of gunicorn
IN_FLIGHT = 32  # requests of GET /me whose responses are awaited
ALLOWED = 10  # times the 99th percentile without logins
REFRESHING = (8, 32, 128)
_CALM = 2  # seconds after which the server has completed the logins that a storm left
GUNICORN = "gunicorn, 2 workers, 8 threads"
UVICORN = "uvicorn, 2 workers, pool"
BEHIND = "the same gunicorn behind HAProxy"
KINDS = (GUNICORN, BEHIND, UVICORN)


def me_beside_logins(chosen: Namespace) -> str:
    lines = [line for kind in KINDS for line in beside(kind, chosen)]
    header = (
        *("GET ``/me``, 50 a second", "p50 alone, ms", "p99 alone, ms", "p50 in the storm, ms"),
        *("p99 in the storm, ms", f"Times p99 (at most {ALLOWED})", "Logins a second, and 503"),
    )
    return table(header, lines, first=28)


def beside(kind: str, chosen: Namespace) -> list[tuple[str, ...]]:
    with hosted(kind, chosen, hasher=HASHER) as server:
        token = wires.token_in(load.login(server, 0), "access_token")
        times(server, token, 3)  # loads the routes of every thread
        return [compared(kind, server, token, clients, chosen) for clients in CLIENTS]


def compared(
    kind: str, server: servers.Server, token: str, clients: int, chosen: Namespace
) -> tuple[str, ...]:
    alone, stormy, counts = [], [], []
    for _ in range(chosen.rounds):
        alone += times(server, token, chosen.seconds)
        with logins(server, clients, chosen) as storm:
            stormy += times(server, token, chosen.seconds)
        counts.append(load.printed(storm.stdout.read(), "storm"))
    answered, refused = sum(c[0] - c[2] for c in counts), sum(c[2] for c in counts)
    seconds = sum(c[1] for c in counts) / 1_000_000
    medians = [threaded.percentile(each, 50) for each in (alone, stormy)]
    worst = [threaded.percentile(each, 99) for each in (alone, stormy)]
    figures = (medians[0], worst[0], medians[1], worst[1], worst[1] / worst[0])
    rate = f"{answered / seconds:.0f} and {refused / seconds:.0f}"
    title = f"{kind}; {clients} connections log in"
    return (title, *(f"{figure:.1f}" for figure in figures), rate)


def times(server: servers.Server, token: str, seconds: int) -> list[float]:
    """Milliseconds of each GET /me from when it was due, on a connection of its own: on a single
    one, a slow response would delay all later requests."""
    headers = server.side.wire.token_headers(token)

    def ask(due: float) -> float:
        status, _ = server.ask("GET", server.side.wire.me, headers=headers)
        if status != 200:
            raise BenchmarkError(f"me answered {status}")
        return (time.perf_counter() - due) * 1000

    started = time.perf_counter()
    with ThreadPoolExecutor(IN_FLIGHT) as pool:
        asked = []
        for number in range(seconds * threaded.PACE):
            due = started + number / threaded.PACE
            time.sleep(max(0.0, due - time.perf_counter()))
            asked.append(pool.submit(ask, due))
        return [each.result() for each in asked]


@contextmanager
def logins(
    server: servers.Server, clients: int, chosen: Namespace
) -> Iterator[subprocess.Popen[str]]:
    """Logins by *clients* connections for as long as the block runs, and a second before."""
    wire = server.side.wire
    script = ["-s", str(load.LUA / "login.lua"), "--timeout", "30s"]
    duration = f"{chosen.seconds + 2}s"
    command = ["wrk", "-t", "2", "-c", str(clients), "-d", duration, *script]
    storm = subprocess.Popen(
        [*command, server.url + wire.login],
        env={**os.environ, **load.variables(wire, "login", chosen.work_dir / "tokens.txt")},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        time.sleep(1)
        yield storm
        storm.wait(timeout=60)
        time.sleep(_CALM)
    finally:
        storm.kill()
        storm.wait()


def refreshes(chosen: Namespace) -> str:
    lines = []
    with hosted(GUNICORN, chosen) as server:
        load.put(server, "refresh", seconds=1, work_dir=chosen.work_dir)
        for connections in REFRESHING:
            found = [refreshing(server, connections, chosen) for _ in range(chosen.rounds)]
            rates = with_range([each.per_second for each in found], 0)
            times = [with_range([getattr(each, name) for each in found], 1) for name in PERCENTILES]
            lines.append((f"{connections} connections", rates, *times))
    header = ("POST ``/refresh``", "Requests a second", "p50, ms", "p99, ms")
    return table(header, lines, first=28)


PERCENTILES = ("p50", "p99")


def refreshing(server: servers.Server, connections: int, chosen: Namespace) -> load.Load:
    return load.put(
        server,
        "refresh",
        seconds=chosen.seconds,
        work_dir=chosen.work_dir,
        connections=connections,
    )


@contextmanager
def hosted(
    kind: str, chosen: Namespace, *, hasher: str = "", before: tuple[str, ...] = ()
) -> Iterator[servers.Server]:
    """Core and stateless under one of the servers; *before* are words before its command."""
    name = "matrix_argon2" if hasher else "matrix_threads"  # the stored hashes differ
    with databases.database(chosen.database_url, name, keep=chosen.keep) as url:
        python = environment.ours(chosen.work_dir, modules=ALL_MODULES)
        options = Namespace(login="stateless", modules="", redis_url="")
        side = seeded(sides.ours(url, python=python, options=options, hasher=hasher))
        databases.analyze(url)
        side = with_options(side, "pool" if kind == UVICORN else "prepared")
        # As `docs/running.rst` says: all processes together run as many hashes as there are cores.
        hashes = str(max(1, (os.cpu_count() or 1) // servers.WORKERS))
        extra = {**side.extra, "BENCHMARK_HASHES_IN_FLIGHT": hashes}
        side = replace(side, extra=extra, server=(*before, *command(kind, python)))
        with servers.served(side, log=chosen.work_dir / "matrix-storm.log") as server:
            in_front = behind(server, chosen.work_dir) if kind == BEHIND else nullcontext(server)
            with in_front as first:
                yield first


@contextmanager
def behind(server: servers.Server, work_dir: Path) -> Iterator[servers.Server]:
    """HAProxy with the file of `docs/running/deployment.rst`, before the only web server."""
    folder = work_dir / "haproxy"
    folder.mkdir(exist_ok=True)
    nothing = at(1)  # no process listens there
    others = ("SERVICE_TWO", "POSTGRESQL_ONE", "POSTGRESQL_TWO", "REDIS_ONE", "REDIS_TWO")
    addresses = {"SERVICE_ONE": at(server.port), **dict.fromkeys(others, nothing)}
    haproxy = HAProxy(folder, **addresses)
    try:
        haproxy.wait_for("service", "one")
        yield replace(server, port=haproxy.web)
    finally:
        haproxy.stop()


def command(kind: str, python: Path) -> tuple[str, ...]:
    if kind == UVICORN:
        return uvicorn(python, "example_project.asgi:application")
    # A worker that ends waits this long for idle connections, 30 seconds by default.
    options = (
        *threaded.SERVER,
        "--graceful-timeout",
        "5",
        "--bind",
        "127.0.0.1:{port}",
        "--log-level",
        "error",
    )
    return (str(python), "-m", "gunicorn", *options, "example_project.wsgi:application")
