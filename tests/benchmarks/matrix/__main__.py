"""``python -m tests.benchmarks.matrix``: prints the tables, and writes them with ``--write``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable

from tests.benchmarks import environment, load, options, turn
from tests.benchmarks.errors import BenchmarkError
from tests.benchmarks.matrix import crowd, machine, measure, rows, storm, tables

FIGURES = environment.ROOT / "docs" / "benchmarks"
ENDPOINTS = tuple(tables.TITLES)


def main() -> int:
    chosen = parse()
    # Unlike the default action of SIGTERM, an exit stops the servers and drops the databases.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        load.require_wrk()
        chosen.work_dir.mkdir(parents=True, exist_ok=True)
        with turn.taken():
            for part in chosen.parts:
                measured(part, chosen)
    except BenchmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def measured(part: str, chosen: argparse.Namespace) -> None:
    print(f"measuring: {part}", flush=True)
    before = os.getloadavg()[0]
    figures = PARTS[part](chosen)
    text = f"{machine.conditions(chosen, load_before=before)}\n{figures}"
    print(f"\n{text}", flush=True)
    if chosen.write:
        FIGURES.mkdir(exist_ok=True)
        (FIGURES / f"{part}.txt").write_text(text)


def compared(chosen: argparse.Namespace) -> str:
    found = measure.run(chosen.rows, chosen)
    lines = tables.endpoints(chosen.rows, found, chosen.endpoints)
    return f"{machine.peers(chosen.work_dir)}\n{lines}"


def weighed(chosen: argparse.Namespace) -> str:
    return tables.memory(chosen.rows, measure.memory(chosen.rows, chosen))


PARTS: dict[str, Callable[[argparse.Namespace], str]] = {
    "rows": compared,
    "memory": weighed,
    "storm": storm.me_beside_logins,
    "refresh": storm.refreshes,
    "crowd": crowd.report,
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.matrix",
        description="Measure the example project and other packages in tables for the docs.",
    )
    parser.add_argument("--rounds", type=options.positive, default=5, help="counted runs each")
    parser.add_argument("--seconds", type=options.positive, default=3, help="length of a run")
    some = {"type": lambda text: text.split(","), "metavar": "NAME,…"}
    for name, known in (("parts", tuple(PARTS)), ("rows", rows.NAMES), ("endpoints", ENDPOINTS)):
        parser.add_argument(f"--{name}", default=list(known), help=", ".join(known), **some)
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/PART.txt")
    options.add_where(parser)
    chosen = parser.parse_args(arguments)
    checked(parser, chosen)
    chosen.rows = [row for row in rows.ROWS if row.name in chosen.rows]
    return chosen


def checked(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    allowed = {"parts": tuple(PARTS), "rows": rows.NAMES, "endpoints": ENDPOINTS}
    for name, known in allowed.items():
        for wrong in set(getattr(chosen, name)) - set(known):
            parser.error(f"--{name}: {wrong} is not among {', '.join(known)}")
    whole = len(chosen.rows) == len(rows.NAMES) and len(chosen.endpoints) == len(ENDPOINTS)
    if chosen.write and not whole:
        parser.error("--write needs all rows and endpoints; choose among --parts")


if __name__ == "__main__":
    sys.exit(main())
