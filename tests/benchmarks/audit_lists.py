"""`python -m tests.benchmarks.audit_lists` times the first page of each list of the audit log.

It fills one database with a hundred thousand entries and another one with many (`--rows`), requests
the first page of each list through the whole service, in one process, and prints the 95th
percentile of each in milliseconds, side by side.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from statistics import quantiles

from tests.benchmarks.databases import database
from tests.hosts.runs import ROOT

_SETTINGS = "tests.benchmarks.audit_settings"
FEW = 100_000
TURNS, WARM = 40, 3
_RUN = (
    "import django; django.setup(); from tests.benchmarks.audit_lists_run import main; main({rows})"
)
_NARROWED = (
    *("action=auth.login.failed", "action=auth.oauth", "action=auth", "severity=critical"),
    *("severity=info", "actor_id=1", "actor_id=77", "target_id=2", "actor_id=1&action=user"),
)
_SORTED = ("created_at", "action", "severity", "actor_id")


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.benchmarks.audit_lists")
    parser.add_argument("--database-url", default="postgres://postgres@127.0.0.1:5432/postgres")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--keep", action="store_true", help="keep the databases")
    chosen = parser.parse_args()
    few, many = (_measured(chosen, rows) for rows in (FEW, chosen.rows))
    print(f"{'first page of':58} {FEW:>12,} {chosen.rows:>12,}  ratio")
    for path, slow in many.items():
        print(f"{path:58} {few[path]:12.1f} {slow:12.1f}  {slow / few[path]:5.2f}")


def _measured(chosen: Namespace, rows: int) -> dict[str, float]:
    with database(chosen.database_url, f"audit_{rows}", keep=chosen.keep) as url:
        run = subprocess.run(
            [sys.executable, "-c", _RUN.format(rows=rows)],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": _SETTINGS},
            stdout=subprocess.PIPE,
            check=True,
        )
    return json.loads(run.stdout)


def paths() -> list[str]:
    """Every list in every order and direction, and the filters of the super admins' lists."""
    orders = [f"sort_field={f}&sort_dir={d}" for f in _SORTED for d in ("desc", "asc")]
    own = ["me/audit", "me/audit/logins", "me/audit/changes", "me/audit/security"]
    lists = ["admin/audit", "admin/audit/users/2", "admin/audit/actions/auth.login.success", *own]
    everything = [f"{path}?{order}" for path in lists for order in orders]
    return everything + [f"admin/audit?{narrowed}" for narrowed in _NARROWED]


def percentile(ask: Callable[[str], None], path: str) -> float:
    """The 95th percentile of the response times, in milliseconds."""
    times = []
    for _ in range(WARM + TURNS):
        begun = time.perf_counter()
        ask(path)
        times.append(time.perf_counter() - begun)
    return quantiles(times[WARM:], n=20)[-1] * 1000


if __name__ == "__main__":
    main()
