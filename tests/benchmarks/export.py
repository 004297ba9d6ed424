"""`python -m tests.benchmarks.export`: the memory of an export with a million audit entries.

Fills a log on PostgreSQL, exports the data of its user in this process, and compares the peak of
its resident memory with what it had after an export of ten entries. Exits with 1 if the peak is
60 MB higher or more. It needs Linux, and takes about two minutes.
"""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import django

from tests.benchmarks import databases
from tests.benchmarks.options import ADMIN_URL, positive

LIMIT = 60  # MB
FEW = 10
# Ids are UUIDs of version 7, a millisecond apart, as those of the service.
_FILL = """
    INSERT INTO authservice_audit_entry (
        id, action, severity, topic, actor_id, actor_type, target_id, target_type, details,
        metadata, ip_address, user_agent, created_at
    )
    SELECT
        (
            lpad(to_hex(1700000000000 + number), 12, '0') || '7' || substr(md5(number::text), 1, 3)
            || '8' || substr(md5(number::text), 4, 15)
        )::uuid,
        'auth.login.success', 'info', 'logins', %s, 'user', '', '', 'Logged in.',
        '{"request_id":"' || md5(number::text) || '","method":"password"}', '203.0.113.7', %s,
        to_timestamp((1700000000000 + number) / 1000.0)
    FROM generate_series(1, %s) number
"""


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.benchmarks.export", description=__doc__)
    parser.add_argument("--rows", type=positive, default=1_000_000, help="audit entries")
    parser.add_argument("--database-url", default=ADMIN_URL, help="server on which to create it")
    chosen = parser.parse_args()
    with databases.database(chosen.database_url, "export", keep=False) as url:
        os.environ.update(
            DATABASE_URL=url, DJANGO_SETTINGS_MODULE="tests.benchmarks.audit_settings"
        )
        django.setup()
        return measure(chosen.rows)


def measure(rows: int) -> int:
    # Imported here because they need a configured Django, which needs the database.
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    ann, bob = (_person(name, entries) for name, entries in (("ann", rows), ("bob", FEW)))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    _length(bob)
    before = _memory("VmRSS")
    # From now on VmHWM is the peak since this line.
    Path("/proc/self/clear_refs").write_text("5")
    begun = time.perf_counter()
    length = _length(ann)
    seconds, grown = time.perf_counter() - begun, _memory("VmHWM") - before
    connection.close()
    print(
        f"{rows} entries: {length / 1e6:.0f} MB of JSON in {seconds:.0f} s;"
        f" {grown:.1f} MB more memory than with {FEW} entries ({before:.0f} MB)"
    )
    return int(grown >= LIMIT)


def _person(name: str, entries: int) -> Any:
    from django.contrib.auth import get_user_model
    from django.db import connection

    from authservice.core.users import lookup
    from tests.benchmarks.audit_seed import AGENT

    user = get_user_model().objects.create_user(name, f"{name}@example.com")
    with connection.cursor() as cursor:
        cursor.execute(
            _FILL.replace("1700000000000", str(1_700_000_000_000 + user.pk * 10**9)),
            [
                str(user.pk),
                AGENT,
                entries,
            ],
        )
    return lookup.find_by_id(str(user.pk))


def _length(person: Any) -> int:
    """How many bytes the export of a person has, of which none is kept."""
    from authservice.core.staff import export_user

    return sum(map(len, export_user.document(person)))


def _memory(name: str) -> float:
    """A line of the status of this process, in MB."""
    [line] = [
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name)
    ]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    sys.exit(main())
