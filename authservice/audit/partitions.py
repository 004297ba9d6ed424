"""The audit table in one partition for each month, on PostgreSQL.

Ids are UUIDs version 7, which sort by time, so a month is a range of ids. Primary key, indexes and
model stay as they are. The rows from before become the first partition, and none is copied.
Dropping an expired month takes milliseconds and leaves nothing to vacuum.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connections, transaction
from django.db.models import QuerySet

from authservice.audit import retention, writer
from authservice.audit.models import Entry
from authservice.kernel import databases
from authservice.kernel.actions import SYSTEM
from authservice.kernel.client import Client
from authservice.kernel.events import Event
from authservice.kernel.uuid7 import least

# The first partition ends at least this long after the conversion: meanwhile entries are written.
_MARGIN = timedelta(days=7)
# A statement that waits for a lock makes all later ones wait behind it, also those of logins.
_PATIENCE = "SET LOCAL lock_timeout = '2s'"

_IS_PARTITIONED = "SELECT relkind = 'p' FROM pg_class WHERE oid = %s::regclass"
_PARTITIONS = """
SELECT relname FROM pg_class JOIN pg_inherits ON pg_class.oid = inhrelid
WHERE inhparent = %s::regclass ORDER BY relname
"""
_IS_SPECIAL = """
SELECT relrowsecurity OR EXISTS (SELECT FROM pg_trigger WHERE tgrelid = pg_class.oid)
FROM pg_class WHERE oid = %s::regclass
"""
_INDEXES = """
SELECT relname, indisprimary FROM pg_class JOIN pg_index ON pg_class.oid = indexrelid
WHERE indrelid = %s::regclass
"""
_GRANTS = """
SELECT format('GRANT %%s ON %%I TO %%s%%s', privilege_type, relname,
    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,
    CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = %s::regclass AND grantee <> relowner
"""
_MOVE = """
WITH moved AS (DELETE FROM {rest} WHERE id >= '{first}' AND id < '{end}' RETURNING *)
INSERT INTO {partition} SELECT * FROM moved
"""
_COPY = "INSERT INTO {smaller} SELECT * FROM {partition} WHERE action = ANY(%s)"
_LIKE = "INCLUDING DEFAULTS INCLUDING STORAGE"


class UnsuitableTable(Exception):
    """The table has something that a partitioned table in its place would lose."""


@dataclass(frozen=True)
class Partition:
    """The entries from `start` (None: from the first one) to before `end`, both the first moment of
    a month in UTC."""

    end: datetime
    start: datetime | None = None

    @classmethod
    def month(cls, moment: datetime) -> Partition:
        start = datetime(moment.year, moment.month, 1, tzinfo=UTC)
        return cls(
            datetime(start.year + start.month // 12, start.month % 12 + 1, 1, tzinfo=UTC), start
        )

    @classmethod
    def named(cls, name: str) -> Partition | None:
        """The partition of that table; None for one that is not by time."""
        found = re.fullmatch(re.escape(_TABLE) + r"_(until_)?(\d{4})_(\d{2})", name)
        if not found:
            return None
        moment = datetime(int(found[2]), int(found[3]), 1, tzinfo=UTC)
        return cls(moment) if found[1] else cls.month(moment)

    @property
    def name(self) -> str:
        moment, kind = (self.start, "") if self.start else (self.end, "until_")
        return f"{_TABLE}_{kind}{moment:%Y_%m}"

    @property
    def values(self) -> str:
        first = f"'{least(self.start)}'" if self.start else "MINVALUE"
        return f"FOR VALUES FROM ({first}) TO ('{least(self.end)}')"


_TABLE = Entry._meta.db_table
# For entries beyond the last month, if the command has not been run for long.
_REST = f"{_TABLE}_rest"


def is_partitioned() -> bool:
    [[answer]] = _read(_IS_PARTITIONED, _TABLE)
    return bool(answer)


def convert() -> Partition:
    """Make the table partitioned; returns the partition that has its present rows.

    They are read once, while other transactions read and write. Raises UnsuitableTable for a table
    with triggers or row security, and OperationalError if a lock is not free within two seconds.
    """
    [[special]] = _read(_IS_SPECIAL, _TABLE)
    if special:
        raise UnsuitableTable(f"The table {_TABLE} has triggers or row security.")
    former = Partition(Partition.month(datetime.now(UTC) + _MARGIN).end)
    bound = f"{former.name}_bound"
    with _briefly():
        _run(f"ALTER TABLE {_TABLE} DROP CONSTRAINT IF EXISTS {bound}")  # of an aborted run
        check = f"CHECK (id < '{least(former.end)}') NOT VALID"
        _run(f"ALTER TABLE {_TABLE} ADD CONSTRAINT {bound} {check}")
    # Blocks nobody. Thanks to the constraint, attaching the table reads none of its rows.
    _run(f"ALTER TABLE {_TABLE} VALIDATE CONSTRAINT {bound}")
    with _briefly():
        _run(f"LOCK TABLE {_TABLE}")
        _replace(former.name)
        _run(f"ALTER TABLE {_TABLE} ATTACH PARTITION {former.name} {former.values}")
        _run(f"ALTER TABLE {former.name} DROP CONSTRAINT {bound}")
        _run(f"CREATE TABLE {_REST} PARTITION OF {_TABLE} DEFAULT")
    return former


def _replace(former: str) -> None:
    """Rename the table and its indexes, and create an empty partitioned table in its place."""
    grants = [sql for (sql,) in _read(_GRANTS, _TABLE)]
    indexes = dict(_read(_INDEXES, _TABLE))
    [key] = [name for name, primary in indexes.items() if primary]
    for name in indexes:
        _run(f"ALTER INDEX {name} RENAME TO {name}_until")
    _run(f"ALTER TABLE {_TABLE} RENAME TO {former}")
    _run(f"CREATE TABLE {_TABLE} (LIKE {former} {_LIKE}) PARTITION BY RANGE (id)")
    _run(f"ALTER TABLE {_TABLE} ADD CONSTRAINT {key} PRIMARY KEY (id)")
    with connections[databases.primary()].schema_editor(atomic=False) as editor:
        for index in Entry._meta.indexes:
            editor.add_index(Entry, index)
    for grant in grants:
        _run(grant)


def extend(months: int) -> list[str]:
    """Create the partitions up to `months` after the present one; returns their names."""
    last, created = datetime.now(UTC) + timedelta(days=30 * months), []
    while (end := _partitions()[-1].end) <= last:
        created.append(_create(end))
    return created


def _create(start: datetime) -> str:
    partition = Partition.month(start)
    first, end = least(start), least(partition.end)
    with _briefly():
        _run(f"CREATE TABLE {partition.name} (LIKE {_TABLE} {_LIKE} INCLUDING INDEXES)")
        _run(f"LOCK TABLE {_REST}")
        _run(_MOVE.format(rest=_REST, partition=partition.name, first=first, end=end))
        _run(f"ALTER TABLE {_TABLE} ATTACH PARTITION {partition.name} {partition.values}")
    return partition.name


def shrink() -> dict[str, int]:
    """Drop the expired entries of past months; returns their numbers by partition.

    A month waits until each of its actions has expired as a whole or not at all. Then the entries
    to keep are copied into a new partition, and the old one is dropped. A month without entries is
    dropped too. What is dropped is recorded like a cleanup.
    """
    now, dropped = datetime.now(UTC), {}
    for partition in _partitions():
        if partition.end > now - _MARGIN:
            continue
        expired, kept = retention.sorted_actions(_entries(partition), now)
        is_due = bool(expired) and not set(expired) & set(kept)
        is_empty = not expired and not kept
        if is_due or is_empty:
            dropped[partition.name] = _shrink(partition, kept)
    return dropped


def _entries(partition: Partition) -> QuerySet[Entry]:
    rows = Entry.objects.filter(pk__lt=least(partition.end))
    return rows.filter(pk__gte=least(partition.start)) if partition.start else rows


def _shrink(partition: Partition, kept: list[str]) -> int:
    # No entry is written into a past month, so nothing changes between the check and this.
    number = _entries(partition).exclude(action__in=kept).count()
    with _briefly():
        if number:
            metadata = {"deleted": number}
            writer.write(
                Event(
                    action=retention.CLEANED, actor_type=SYSTEM, client=Client(), metadata=metadata
                )
            )
        smaller = f"{partition.name}_kept"
        if kept:
            _run(f"CREATE TABLE {smaller} (LIKE {_TABLE} {_LIKE} INCLUDING INDEXES)")
            _run(_COPY.format(partition=partition.name, smaller=smaller), kept)
        # From here the table is locked.
        _run(f"DROP TABLE {partition.name}")
        if kept:
            _run(f"ALTER TABLE {smaller} RENAME TO {partition.name}")
            _run(f"ALTER TABLE {_TABLE} ATTACH PARTITION {partition.name} {partition.values}")
    return number


def analyze() -> None:
    """Renew the statistics of the whole, which no autovacuum does for a partitioned table."""
    _run(f"ANALYZE {_TABLE}")


def _partitions() -> list[Partition]:
    """Those by time, in their order."""
    named = (Partition.named(name) for (name,) in _read(_PARTITIONS, _TABLE))
    found = [partition for partition in named if partition]
    return sorted(found, key=lambda partition: partition.end)


@contextmanager
def _briefly() -> Iterator[None]:
    """A transaction that waits two seconds for each of its locks, and holds them briefly."""
    with transaction.atomic(using=databases.primary()):
        _run(_PATIENCE)
        yield


def _run(sql: str, *values: list[str]) -> None:
    with connections[databases.primary()].cursor() as cursor:
        cursor.execute(sql, values or None)


def _read(sql: str, *values: str) -> Sequence[tuple[Any, ...]]:
    with connections[databases.primary()].cursor() as cursor:
        cursor.execute(sql, values or None)
        return list(cursor.fetchall())
