"""`python -m tests.mutations` applies each mutation of the table in turn and names the failed test.

Exits with 1 if a mutation no longer applies or no test detects it. `--only WORD` selects mutations
whose name contains the word, `--rst` prints the table of docs/mutations.rst. Mutations that only a
race can detect run if DATABASE_URL names a database of the required kind, else they are skipped, as
are those for an earlier version of Django. `--jobs` says how many copies of the tree are tried at
the same time, each with a database of its own.
"""

from __future__ import annotations

import os
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutations.kinds import Mutation
from tests.mutations.table import MUTATIONS
from tests.mutations.turns import DATABASE, Copy, Stale, Survivor

_HEAD = ".. list-table::\n   :header-rows: 1\n   :widths: 36 24 40\n"


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.mutations")
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--rst", action="store_true")
    parser.add_argument("--jobs", type=int, default=1, metavar="NUMBER")
    chosen = parser.parse_args()
    address = os.environ.get(DATABASE, "")
    named = [one for one in MUTATIONS if chosen.only in one.name]
    mutations = [one for one in named if not one.missing(address)]
    for one in named:
        if missing := one.missing(address):
            print(f"skipped   {one.lost}: needs {missing}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        copies = [Copy.into(Path(folder) / str(number)) for number in range(chosen.jobs)]
        rows, wrong = turns(copies, mutations)
    if chosen.rst:
        print(table(rows))
    for text in wrong:
        print(text, file=sys.stderr)
    print(f"{len(rows)} of {len(mutations)} were seen", file=sys.stderr)
    sys.exit(bool(wrong))


def turns(
    copies: Sequence[Copy], mutations: Sequence[Mutation]
) -> tuple[list[tuple[Mutation, str]], list[str]]:
    """The test that detected each mutation, in the order of the table, and the mutations that went
    wrong."""
    # Mutations with the same tests are tried in one copy, where these are green once.
    groups: dict[tuple[tuple[str, ...], str], list[Mutation]] = {}
    for mutation in mutations:
        groups.setdefault((mutation.tests, mutation.database), []).append(mutation)
    free: SimpleQueue[Copy] = SimpleQueue()
    for copy in copies:
        free.put(copy)
    rows: dict[Mutation, str] = {}
    wrong: list[str] = []

    def try_group(group: list[Mutation]) -> None:
        copy, green = free.get(), False
        for mutation in group:
            try:
                if not green:
                    copy.stay_green(mutation)
                    green = True
                rows[mutation] = copy.turn_red(mutation)
                print(f"red       {mutation.lost}: {rows[mutation]}", file=sys.stderr, flush=True)
            except (Stale, Survivor) as fault:
                wrong.append(str(fault))
                print(f"NOT SEEN  {mutation.lost}", file=sys.stderr, flush=True)
        free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        list(pool.map(try_group, groups.values()))
    return [(mutation, rows[mutation]) for mutation in mutations if mutation in rows], wrong


def table(rows: Iterable[tuple[Mutation, str]]) -> str:
    lines = [_HEAD, "   * - What the fault removes", "     - File", "     - Test that fails"]
    for mutation, red in rows:
        test = red.partition("::")[2].partition("[")[0].replace("::", ".")
        lines += [
            f"   * - {mutation.lost}",
            f"     - ``{mutation.file.removeprefix('authservice/')}``",
            f"     - ``{test}``",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
