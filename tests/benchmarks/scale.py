"""``python -m tests.benchmarks.scale``: lists of users in a database with very many users.

Exits with 0 if the plan and the speed of every list are as required, 1 if not, 2 without figures.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

import django
from django.conf import settings

from tests.benchmarks import databases
from tests.benchmarks.errors import BenchmarkError
from tests.benchmarks.options import ADMIN_URL, positive

MILLISECONDS = 40
EMAIL, PASSWORD = "reader@example.com", "plum-harbour-lantern-42"


def main() -> int:
    chosen = parse()
    try:
        made = databases.database(chosen.database_url, f"scale_{chosen.users}", keep=chosen.keep)
        with made as url:
            os.environ["DATABASE_URL"] = url
            os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
            django.setup()
            return measure(chosen)
    except BenchmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.scale", description=__doc__)
    parser.add_argument("--users", type=positive, default=1_000_000, help="how many there are")
    parser.add_argument("--times", type=positive, default=40, help="requests for each list")
    parser.add_argument("--plans-only", action="store_true", help="no clock, so it fails for none")
    parser.add_argument("--database-url", default=ADMIN_URL, help="where databases may be made")
    parser.add_argument("--keep", action="store_true", help="keep the database and reuse it")
    return parser.parse_args()


def measure(chosen: argparse.Namespace) -> int:
    # Imported here because they need a configured Django, which needs the database.
    from tests.benchmarks import scale_list, scale_seed

    begun = time.perf_counter()
    scale_seed.prepare(chosen.users, EMAIL, PASSWORD)
    print(f"{chosen.users:,} users made in {time.perf_counter() - begun:.0f} s", flush=True)
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "THROTTLE": {"ENABLED": False}}
    reader = scale_list.Reader(EMAIL, PASSWORD)
    faults = list(scale_list.faults(reader))
    print(*faults or ["no table is read in whole"], sep="\n", flush=True)
    if chosen.plans_only:
        return int(bool(faults))
    print(f"\n{'first page of 20, slowest order':40} p95, ms")
    slow = False
    for timed in scale_list.timed(reader, times=chosen.times):
        slow |= timed.p95 > MILLISECONDS
        print(f"{timed.name:40} {timed.p95:7.1f}  {timed.order}", flush=True)
    return int(bool(faults) or slow)


if __name__ == "__main__":
    sys.exit(main())
