"""A log with many entries on PostgreSQL, copied in through the columns of the real model.

One actor has a twentieth of all entries, none of which is a change of the profile. Another user is
the target of a thousandth. The rest is spread over many users. Each ID encodes its entry's time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection

from authservice.audit.models import Entry
from authservice.audit.writer import CHANGES, category_of
from authservice.kernel.actions import ACTIONS
from authservice.kernel.clock import uuid7_of

HEAVY, SHARE = "1", 20
TARGET, TARGETED = "2", 1000
CROWD = 200_000
SPAN = timedelta(days=365)
# Weights of the common actions; all other actions share the rest.
_COMMON = {
    "auth.login.success": 40,
    "auth.logout": 20,
    "auth.login.failed": 12,
    "security.new_device": 6,
    "user.profile.updated": 6,
    "auth.token.reuse_detected": 0,
}
_METADATA = '{"request_id":"%032x","method":"password"}'
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def fill(rows: int, *, until: datetime | None = None) -> None:
    """Copy the rows in and update the statistics of the database."""
    table = connection.ops.quote_name(Entry._meta.db_table)
    names = ", ".join(connection.ops.quote_name(field.column) for field in _fields())
    connection.ensure_connection()
    with _without_indexes():
        cursor: Any = connection.connection.cursor()
        with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
            for entry in entries(rows, until or datetime.now(UTC)):
                copy.write_row([getattr(entry, field.attname) for field in _fields()])
    with connection.cursor() as cursor:
        if not connection.in_atomic_block:
            cursor.execute(f"VACUUM {table}")
        cursor.execute(f"ANALYZE {table}")


def entries(rows: int, until: datetime) -> Iterator[Entry]:
    """Yield the entries, oldest first; the same for the same number of rows."""
    chance, step = random.Random(rows), SPAN / rows
    rare = [name for name in ACTIONS if name not in _COMMON]
    names = [*_COMMON, *rare]
    left = (100 - sum(_COMMON.values())) / len(rare)
    weights = [*_COMMON.values(), *(left for _ in rare)]
    begin = until - SPAN
    for number in range(rows):
        action = chance.choices(names, weights)[0]
        heavy = number % SHARE == 0
        if heavy and category_of(action) == CHANGES:
            action = "auth.login.success"
        yield _entry(chance, action, begin + number * step, heavy, number)


def _entry(chance: random.Random, action: str, at: datetime, heavy: bool, number: int) -> Entry:
    target = TARGET if number % TARGETED == 1 else ""
    return Entry(
        id=uuid7_of(at),
        action=action,
        severity=ACTIONS[action].severity,
        topic=category_of(action),
        actor_id=HEAVY if heavy else str(chance.randint(10, CROWD)),
        actor_type=ACTIONS[action].actors[0],
        target_id=target,
        target_type="user" if target else "",
        details=ACTIONS[action].text,
        metadata=_METADATA % number,
        ip_address=f"198.51.{number % 256}.{number // 256 % 256}",
        user_agent=AGENT,
        created_at=at,
    )


def _fields() -> list[Any]:
    return list(Entry._meta.concrete_fields)


@contextmanager
def _without_indexes() -> Iterator[None]:
    """Creating indexes once at the end costs a fraction of updating them with every row."""
    with connection.schema_editor(atomic=False) as editor:
        for index in Entry._meta.indexes:
            editor.remove_index(Entry, index)
    yield
    with connection.schema_editor(atomic=False) as editor:
        for index in Entry._meta.indexes:
            editor.add_index(Entry, index)
