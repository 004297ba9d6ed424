"""Rounds over all rows and endpoints, with the CPU time of both sides of each request."""

from __future__ import annotations

from argparse import Namespace
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass

from tests.benchmarks import databases, load, servers, wires
from tests.benchmarks.errors import BenchmarkError
from tests.benchmarks.matrix import cpu
from tests.benchmarks.matrix.rows import Row

WARM_UP_SECONDS = 1


@dataclass(frozen=True)
class Sample:
    """One run of one endpoint; CPU in milliseconds per request."""

    load: load.Load
    server_cpu: float
    database_cpu: float


# By row and endpoint, one sample per round.
Samples = dict[tuple[str, str], list[Sample]]
# Proportional set size in megabytes of the largest worker, by row.
Memory = dict[str, float]


def run(rows: list[Row], chosen: Namespace) -> Samples:
    """Every row's server runs all the time, and the rows take turns within each round."""
    with ExitStack() as stack:
        running = {row.name: start(row, chosen, stack) for row in rows}
        for server in running.values():
            warm_up(server, chosen)
        samples: Samples = defaultdict(list)
        for number in range(1, chosen.rounds + 1):
            print(f"round {number} of {chosen.rounds}", flush=True)
            for endpoint in chosen.endpoints:
                for name, server in running.items():
                    if endpoint in server.side.wire.endpoints:
                        samples[name, endpoint].append(sample(server, endpoint, chosen))
        return samples


def memory(rows: list[Row], chosen: Namespace) -> Memory:
    """Each server runs alone: two of the same environment would share pages of its libraries."""
    found = {}
    for row in rows:
        with ExitStack() as stack:
            server = start(row, chosen, stack)
            warm_up(server, chosen)
            found[row.name] = server.worker_memory()["Pss"]
    return found


def start(row: Row, chosen: Namespace, stack: ExitStack) -> servers.Server:
    name = row.name.replace("-", "_")
    made = databases.database(chosen.database_url, f"matrix_{name}", keep=chosen.keep)
    side = row.make(stack.enter_context(made), chosen.work_dir)
    log = chosen.work_dir / f"matrix-{row.name}.log"
    return stack.enter_context(servers.served(side, log=log))


def warm_up(server: servers.Server, chosen: Namespace) -> None:
    """Proves that each request is answered as expected, loads everything, updates statistics."""
    probe(server)
    for endpoint in server.side.wire.endpoints:
        load.put(server, endpoint, seconds=WARM_UP_SECONDS, work_dir=chosen.work_dir)
    databases.analyze(server.side.database_url)


def probe(server: servers.Server) -> None:
    """wrk would take a redirect, or an answer without the user, for success."""
    wire, text = server.side.wire, load.login(server, 1)
    access = wires.token_in(text, wire.access_name)
    status, answer = server.ask("GET", wire.me, headers=wire.token_headers(access))
    if status != 200 or "user1" not in answer:
        raise BenchmarkError(f"{server.side.name}: me answered {status}: {answer[:300]}")


def sample(server: servers.Server, endpoint: str, chosen: Namespace) -> Sample:
    tokens = load.fresh_tokens(server, endpoint)
    before = cpu.of_server(server), cpu.of_database(server)
    measured = load.send(server, endpoint, tokens, seconds=chosen.seconds, work_dir=chosen.work_dir)
    after = cpu.of_server(server), cpu.of_database(server)
    per_request = [cpu.spent(*pair) / measured.requests for pair in zip(before, after, strict=True)]
    return Sample(measured, *per_request)
