"""`python -m tests.benchmarks.neighbours`: how two expensive clients slow down the others.

Requests GET `/me` at a fixed rate, first alone, then beside two clients that send the most
expensive requests possible, one after the other: logins and sign-ups with the real Argon2id, and
bodies of 62 kB. The server is the one of `docs/running.rst`, on PostgreSQL, with flood limits off,
so that only the cost of a request limits the two clients. Exits with 1 if the 99th percentile
grows more than tenfold.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, cycle
from multiprocessing.synchronize import Event

from tests.benchmarks import databases, environment, load, options, servers, sides, terms
from tests.benchmarks.argon2 import HASHER
from tests.benchmarks.threaded import sample, served
from tests.support.expensive_texts import LONG

ALLOWED = 10  # times the 99th percentile of an idle server
CLIENTS = 2


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.benchmarks.neighbours")
    parser.add_argument("--seconds", type=options.positive, default=20)
    options.add_where(parser)
    chosen = parser.parse_args()
    chosen.modules, chosen.login = "", "stateless"
    chosen.work_dir.mkdir(parents=True, exist_ok=True)
    with databases.database(chosen.database_url, "neighbours", keep=chosen.keep) as url:
        python = environment.ours(chosen.work_dir, modules="")
        side = sides.ours(url, python=python, options=chosen, hasher=HASHER)
        side.run("tests.benchmarks.seed")
        with served(side, chosen.work_dir / "neighbours.log") as server:
            return report(server, chosen)


def report(server: servers.Server, chosen: Namespace) -> int:
    token = load.wires.token_in(load.login(server, 0), "access_token")
    sample(server.port, token, seconds=3)  # loads the routes of every thread
    alone = sample(server.port, token, chosen.seconds)
    with attackers(server.port) as answered:
        beside = sample(server.port, token, chosen.seconds)
    ratio = beside / alone
    print(f"99th percentile of GET /me: {alone:.1f} ms alone, {beside:.1f} ms beside {CLIENTS}")
    print(
        f"clients with expensive requests, of which {answered()} were answered: {ratio:.1f} times"
    )
    return int(ratio > ALLOWED)


@contextmanager
def attackers(port: int):
    """Two processes that send expensive requests until the end; yields the number of responses."""
    over, answered = multiprocessing.Event(), multiprocessing.Value("i", 0)
    processes = [
        multiprocessing.Process(target=attack, args=(port, name, over, answered), daemon=True)
        for name in range(CLIENTS)
    ]
    for process in processes:
        process.start()
    time.sleep(1)
    try:
        yield lambda: answered.value
    finally:
        over.set()
        for process in processes:
            process.join(timeout=30)


def attack(port: int, name: int, over: Event, answered) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Content-Type": "application/json"}
    for path, body in requests(name):
        if over.is_set():
            return
        connection.request("POST", f"/auth/{path}", json.dumps(body), headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status != 500, path
        with answered.get_lock():
            answered.value += 1


def requests(name: int) -> Iterator[tuple[str, dict[str, str]]]:
    long_password = "plum harbour " * 300
    texts = cycle(LONG.values())
    for number in count():
        email = f"new{os.getpid()}-{number}@bench.example.com"
        user = terms.EMAIL % (1 + name * 5000 + number % 5000)
        yield "login", {"email": user, "password": terms.PASSWORD}
        yield "signup", {"email": email, "password": long_password[:128] + str(number)}
        yield "login", {"email": user, "password": long_password}
        yield "login", {"email": next(texts), "password": terms.PASSWORD}
        yield "signup", {"email": email, "password": next(texts)}
        yield "forgot-password", {"email": user}


if __name__ == "__main__":
    sys.exit(main())
