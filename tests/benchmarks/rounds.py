"""Alternate runs of both sides, so that other load on the machine affects both alike."""

from argparse import Namespace

from tests.benchmarks import databases, goals, load
from tests.benchmarks.servers import Server

WARM_UP_SECONDS = 1

# Requests per second of every run, by side and then by endpoint.
Rates = dict[str, dict[str, list[float]]]


def run(servers: list[Server], options: Namespace) -> Rates:
    chosen = [name for name in goals.ENDPOINTS if name in options.only]
    for endpoint in chosen:
        for server in servers:
            measure(server, endpoint, WARM_UP_SECONDS, options)
    for server in servers:
        databases.analyze(server.side.database_url)
    rates: Rates = {server.side.name: {name: [] for name in chosen} for server in servers}
    for number in range(1, options.rounds + 1):
        print(f"round {number} of {options.rounds}", flush=True)
        for endpoint in chosen:
            for server in servers:
                rate = measure(server, endpoint, options.seconds, options)
                rates[server.side.name][endpoint].append(rate)
    return rates


def measure(server: Server, endpoint: str, seconds: int, options: Namespace) -> float:
    return load.requests_per_second(server, endpoint, seconds=seconds, work_dir=options.work_dir)
