"""`python -m tests.benchmarks.providers`: what identity providers cost the other users.

Requests GET `/me` at a fixed rate, first alone, then while users log in with a provider that
accepts connections and never answers. The server is the one of `docs/running.rst`, on PostgreSQL.
Then it prints the memory of a worker without the module, with it, and with providers in use.
Exits with 1 if the 99th percentile grows more than threefold.
"""

from __future__ import annotations

import http.client
import multiprocessing
import os
import socket
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.synchronize import Event
from threading import Thread

from tests.benchmarks import databases, environment, load, options, servers, sides
from tests.benchmarks.threaded import sample, served

ALLOWED = 3  # times the 99th percentile of a server without such logins
USERS = 16  # who try to log in, each a second after the last response
REQUESTS = 40  # so that each worker gets some


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.benchmarks.providers")
    parser.add_argument("--seconds", type=options.positive, default=20)
    options.add_where(parser)
    chosen = parser.parse_args()
    chosen.modules, chosen.login = "oauth", "stateless"
    chosen.work_dir.mkdir(parents=True, exist_ok=True)
    with (
        databases.database(chosen.database_url, "providers", keep=chosen.keep) as url,
        hanging() as issuer,
    ):
        python = environment.ours(chosen.work_dir, modules=chosen.modules)
        plain = sides.ours(url, python=python, options=chosen)
        side = replace(
            plain,
            settings="tests.benchmarks.provider_settings",
            extra={**plain.extra, "BENCHMARK_ISSUER": issuer},
        )
        side.run("tests.benchmarks.seed")
        with served(side, chosen.work_dir / "providers.log") as server:
            missed = report_latency(server, chosen)
        report_memory(side, chosen)
    return missed


@contextmanager
def hanging() -> Iterator[str]:
    """The issuer of a provider that never answers: the system accepts its connections."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1024)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def report_latency(server: servers.Server, chosen: Namespace) -> int:
    before = os.getloadavg()[0]
    token = load.wires.token_in(load.login(server, 0), "access_token")
    sample(server.port, token, seconds=3)  # loads the routes of every thread
    alone = sample(server.port, token, chosen.seconds)
    with logins(server.port) as tried:
        beside = sample(server.port, token, chosen.seconds)
    print(f"99th percentile of GET /me: {alone:.1f} ms alone, {beside:.1f} ms beside {USERS} users")
    print(f"who log in with a provider that hangs ({tried()} tries): {beside / alone:.1f} times")
    print(f"load average before: {before:.1f}")
    return int(beside / alone > ALLOWED)


@contextmanager
def logins(port: int):
    """Users who log in with the provider that hangs; yields the number of responses."""
    over, answered = multiprocessing.Event(), multiprocessing.Value("i", 0)
    users = multiprocessing.Process(target=log_in, args=(port, over, answered), daemon=True)
    users.start()
    time.sleep(2)  # until as many requests hang as are allowed
    try:
        yield lambda: answered.value
    finally:
        over.set()
        users.join(timeout=60)


def log_in(port: int, over: Event, answered) -> None:
    def one_user() -> None:
        while not over.is_set():
            assert start(port, "hanging") == 400
            with answered.get_lock():
                answered.value += 1
            over.wait(1)

    users = [Thread(target=one_user) for _ in range(USERS)]
    for user in users:
        user.start()
    for user in users:
        user.join()


def start(port: int, provider: str) -> int:
    """The status of the start of a login."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", f"/auth/oauth/{provider}")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def report_memory(side: sides.Side, chosen: Namespace) -> None:
    log = chosen.work_dir / "providers.log"
    absent = replace(side, settings="tests.benchmarks.settings", extra={"AUTHSERVICE_MODULES": ""})
    with served(absent, log) as server:
        report_worker(server, "without the module")
    with served(side, log) as server:
        report_worker(server, "with the module")
        report_worker(server, "and a named provider", "github")
        report_worker(server, "and one of social-auth-core", "spotify")


def report_worker(server: servers.Server, state: str, provider: str = "") -> None:
    for _ in range(REQUESTS):
        if provider:
            assert start(server.port, provider) == 302
        else:
            server.ask("GET", server.side.wire.me)
    used = server.worker_memory()
    print(
        f"memory of a worker {state}: {used['Rss']:.0f} MB resident, {used['Pss']:.0f} MB its own"
    )


if __name__ == "__main__":
    sys.exit(main())
