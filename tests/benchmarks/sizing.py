"""`python -m tests.benchmarks.sizing`: the disk that users, sessions and audit entries take.

Fills a database of the example project with all modules, and prints the size of their tables and
indexes on PostgreSQL, without dead rows.
"""

from __future__ import annotations

import os
import random
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import django

from authservice.kernel.clock import uuid7_of
from tests.benchmarks import databases
from tests.benchmarks.options import ADMIN_URL, positive

_SIZES = "SELECT sum(pg_table_size(name)), sum(pg_indexes_size(name)) FROM unnest(%s::text[]) name"


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.benchmarks.sizing", description=__doc__)
    parser.add_argument("--rows", type=positive, default=1_000_000, help="of each kind")
    parser.add_argument("--database-url", default=ADMIN_URL, help="server on which to create it")
    chosen = parser.parse_args()
    with databases.database(chosen.database_url, "sizing", keep=False) as url:
        os.environ.update(DATABASE_URL=url, DJANGO_SETTINGS_MODULE="example_project.settings")
        os.environ.setdefault("DEBUG", "1")
        django.setup()
        fill(chosen.rows)
        report(chosen.rows)
    return 0


def fill(rows: int) -> None:
    # Imported here because they need a configured Django, which needs the database.
    from django.core.management import call_command
    from django.db import connection

    from authservice.core.models import Session
    from authservice.hashers import Argon2id
    from tests.benchmarks import audit_seed, scale_seed

    call_command("migrate", verbosity=0)
    encoded = Argon2id().encode("plum-harbour-lantern-42", "0123456789abcdefghijkl")
    scale_seed.copy_users(rows, encoded)
    scale_seed.copy(Session, sessions(rows, audit_seed.AGENT))
    audit_seed.fill(rows)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def sessions(rows: int, user_agent: str) -> Iterator[dict[str, Any]]:
    """One session of each user, begun within the last month."""
    dice = random.Random(rows)  # noqa: S311 the same sessions each time
    now = datetime.now(UTC)
    month = timedelta(days=30)
    for number in range(rows):
        began = now - month + month * (number / rows)
        last = began + (now - began) * dice.random()
        yield {
            "id": uuid7_of(began),
            "user_id": number + 1,
            "seed": f"{dice.getrandbits(128):032x}",
            "counter": dice.randrange(100),
            "password_fingerprint": f"{dice.getrandbits(256):064x}",
            "token_version": 1,
            "amr": "pwd",
            "auth_time": began,
            "user_agent": user_agent,
            "ip_address": f"198.51.{number % 256}.{number // 256 % 256}",
            "created_at": began,
            "refreshed_at": last,
            "last_used_at": last,
            "idle_expires_at": last + month,
            "expires_at": began + 3 * month,
        }


def report(rows: int) -> None:
    from django.contrib.auth import get_user_model
    from django.db import connection

    from authservice.audit.models import Entry
    from authservice.core.models import Account, Session

    kinds = {
        "user and account": [get_user_model(), Account],
        "session": [Session],
        "audit entry": [Entry],
    }
    print(f"{rows:,} of each        table, MB  indexes, MB  bytes each")
    with connection.cursor() as cursor:
        for name, models in kinds.items():
            cursor.execute(_SIZES, [[model._meta.db_table for model in models]])
            table, indexes = map(int, cursor.fetchone())
            each = (table + indexes) / rows
            print(f"{name:24}{table / 1e6:11,.0f}{indexes / 1e6:13,.0f}{each:12,.0f}")


if __name__ == "__main__":
    sys.exit(main())
