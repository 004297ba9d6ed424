"""``python -m tests.benchmarks.scale``: lists of users in a database with very many users.

Exits with 0 if every list is as fast as required, 1 if not, 2 without figures.
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

MILLISECONDS = 40  # for the lists of the table
WORST = 1_000  # for every combination of search, filter and order
EMAIL, PASSWORD = "reader@example.com", "plum-harbour-lantern-42"


def main() -> int:
    chosen = parse()
    try:
        database = databases.database(
            chosen.database_url, f"scale_{chosen.users}", keep=chosen.keep
        )
        with database as url:
            os.environ["DATABASE_URL"] = url
            os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
            django.setup()
            return measure(chosen)
    except BenchmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.scale", description=__doc__)
    parser.add_argument("--users", type=positive, default=1_000_000, help="number of users")
    parser.add_argument("--times", type=positive, default=40, help="requests for each list")
    parser.add_argument(
        "--database-url", default=ADMIN_URL, help="server on which to create the database"
    )
    parser.add_argument("--keep", action="store_true", help="keep the database and reuse it")
    return parser.parse_args()


def measure(chosen: argparse.Namespace) -> int:
    # Imported here because they need a configured Django, which needs the database.
    from tests.benchmarks import scale_list, scale_seed

    start = time.perf_counter()
    scale_seed.prepare(chosen.users, EMAIL, PASSWORD)
    print(f"{chosen.users:,} users created in {time.perf_counter() - start:.0f} s", flush=True)
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "THROTTLE": {"ENABLED": False}}
    reader = scale_list.Reader(EMAIL, PASSWORD)
    faults = list(scale_list.faults(reader))
    print(
        *faults or [f"at most {scale_list.MAX_STATEMENTS} statements for each list"],
        sep="\n",
        flush=True,
    )
    print(f"\n{'first page of 20, slowest order':40} p95, ms")
    slow = False
    for timed in scale_list.timed(reader, times=chosen.times):
        slow |= timed.p95 > MILLISECONDS
        print(f"{timed.name:40} {timed.p95:7.1f}  {timed.order}", flush=True)
    worst = max(scale_list.combinations(reader), key=lambda timed: timed.p95)
    print(f"\nslowest combination: {worst.p95:.0f} ms, {worst.name}, {worst.order}")
    return int(bool(faults) or slow or worst.p95 > WORST)


if __name__ == "__main__":
    sys.exit(main())
