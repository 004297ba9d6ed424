"""`python -m tests.faults [FAULT …] [--operations N]`.

Prints what was seen for each fault, and exits 1 if a promise is broken.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tests.faults import cache, mail, postgresql
from tests.faults.runs import running
from tests.faults.world import Fault

EACH = "every-statement"
FAULTS = {EACH: Fault(print), **postgresql.FAULTS, **cache.FAULTS, **mail.FAULTS}


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("faults", nargs="*", help=f"by default all: {', '.join(FAULTS)}")
    parser.add_argument("--operations", type=int, default=10_000, help="for each fault")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--logs", type=Path, help="a folder that keeps the logs of the service")
    chosen = parser.parse_args()
    broken = [name for name in chosen.faults or FAULTS if _is_broken(name, chosen)]
    return int(bool(broken))


def _is_broken(name: str, chosen: Namespace) -> bool:
    with running(FAULTS[name], seed=chosen.seed, logs=chosen.logs and chosen.logs / name) as run:
        if name == EACH:
            run.at_every_statement(operations=chosen.operations)
        else:
            run.under_load(chosen.operations)
        broken = run.conclude()
        print(f"{name}: {run}", *(f"  BROKEN {line}" for line in broken[:20]), sep="\n", flush=True)
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
