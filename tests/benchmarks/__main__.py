"""``python -m tests.benchmarks``: exits 0 if all gates are met, 1 if not, 2 without figures."""

import json
import os
import platform
import signal
import sys
from argparse import Namespace
from contextlib import ExitStack
from itertools import starmap

import django

from tests.benchmarks import (
    argon2,
    databases,
    environment,
    facts,
    goals,
    load,
    options,
    report,
    rounds,
    servers,
    sides,
    turn,
)
from tests.benchmarks.errors import BenchmarkError


def main() -> int:
    chosen = options.parse()
    # Unlike the default action of SIGTERM, an exit stops the servers and drops the databases.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        load.require_wrk()
        chosen.work_dir.mkdir(parents=True, exist_ok=True)
        with turn.taken():
            before = os.getloadavg()[0]
            measured = measure(chosen)
    except BenchmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"\n{conditions(chosen, before)}\n\n{measured.text()}")
    return int(measured.missed)


def measure(chosen: Namespace) -> report.Report:
    measured = report.Report()
    with ExitStack() as stack:
        compared = prepared(chosen, stack)
        # Also proves that every route answers correctly: wrk itself would not notice a redirect.
        statements = {side.name: counted(side) for side in compared}
        running = [stack.enter_context(served(side, chosen)) for side in compared]
        rates = rounds.run(running, chosen)
        measured.endpoints = endpoint_lines(rates, statements, chosen.login)
        measured.facts = facts.lines(running, chosen)
    if chosen.argon2:
        measured.facts.extend(starmap(facts.argon2_line, argon2.shares(chosen).items()))
    return measured


def prepared(chosen: Namespace, stack: ExitStack) -> list[sides.Side]:
    """The sides with seeded databases, ours first."""
    compared = [ours(chosen, stack)]
    if not chosen.ours_only:
        compared.append(baseline(chosen, stack))
    for side in compared:
        side.run("tests.benchmarks.seed")
    return compared


def ours(chosen: Namespace, stack: ExitStack) -> sides.Side:
    python = environment.ours(chosen.work_dir, modules=chosen.modules, login=chosen.login)
    return sides.ours(database("ours", chosen, stack), python=python, options=chosen)


def baseline(chosen: Namespace, stack: ExitStack) -> sides.Side:
    python = environment.baseline(chosen.work_dir)
    sessions = not chosen.no_baseline_sessions
    return sides.baseline(database("baseline", chosen, stack), python=python, sessions=sessions)


def database(name: str, chosen: Namespace, stack: ExitStack) -> str:
    made = databases.database(chosen.database_url, name, keep=chosen.keep)
    return stack.enter_context(made)


def counted(side: sides.Side) -> dict[str, int]:
    return json.loads(side.run("tests.benchmarks.statements", side.name))


def served(side: sides.Side, chosen: Namespace):
    return servers.served(side, log=chosen.work_dir / f"{side.name}.log")


def endpoint_lines(
    rates: rounds.Rates, statements: dict[str, dict[str, int]], login: str
) -> list[report.Line]:
    """One line per endpoint, from figures that are grouped by side."""
    return [
        report.endpoint(
            name,
            goals.endpoint(name, login),
            {side: by_name[name] for side, by_name in rates.items()},
            {side: by_name[name] for side, by_name in statements.items()},
        )
        for name in rates["ours"]
    ]


def conditions(chosen: Namespace, load_before: float) -> str:
    return (
        f"Python {platform.python_version()}, Django {django.get_version()}, "
        f"{os.cpu_count()} cores, {servers.WORKERS} sync workers, {load.CONNECTIONS} connections, "
        f"login {chosen.login}, {chosen.rounds} rounds of {chosen.seconds} s, "
        f"load average {load_before:.1f} before"
    )


if __name__ == "__main__":
    sys.exit(main())
