"""`python -m tests.mutations` applies each mutation of the table in turn and names the failed test.

Exits with 1 if a mutation no longer applies or no test detects it. `--only WORD` selects mutations
whose name contains the word, `--rst` prints the table of docs/mutations.rst. Mutations that only a
race can detect run if DATABASE_URL names a database of the required kind, else they are skipped.
"""

from __future__ import annotations

import os
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path

from tests.mutations.kinds import Mutation
from tests.mutations.table import MUTATIONS
from tests.mutations.turns import DATABASE, Copy, Stale, Survivor

_HEAD = ".. list-table::\n   :header-rows: 1\n   :widths: 36 24 40\n"


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.mutations")
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--rst", action="store_true")
    chosen = parser.parse_args()
    address = os.environ.get(DATABASE, "")
    named = [one for one in MUTATIONS if chosen.only in one.name]
    mutations = [one for one in named if one.fits(address)]
    for one in set(named).difference(mutations):
        print(f"skipped   {one.lost}: needs {DATABASE}={one.database}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        rows, wrong = turns(Copy.into(Path(folder)), mutations)
    if chosen.rst:
        print(table(rows))
    for text in wrong:
        print(text, file=sys.stderr)
    print(f"{len(rows)} of {len(mutations)} were seen", file=sys.stderr)
    sys.exit(bool(wrong))


def turns(
    copy: Copy, mutations: Iterable[Mutation]
) -> tuple[list[tuple[Mutation, str]], list[str]]:
    """The test that detected each mutation, and the mutations that went wrong."""
    rows, wrong, green = [], [], set()
    for mutation in mutations:
        try:
            if (mutation.tests, mutation.database) not in green:
                copy.stay_green(mutation)
                green.add((mutation.tests, mutation.database))
            red = copy.turn_red(mutation)
        except (Stale, Survivor) as fault:
            wrong.append(str(fault))
            print(f"NOT SEEN  {mutation.lost}", file=sys.stderr, flush=True)
        else:
            rows.append((mutation, red))
            print(f"red       {mutation.lost}: {red}", file=sys.stderr, flush=True)
    return rows, wrong


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
