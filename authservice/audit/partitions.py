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
from uuid import UUID

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
MARGIN = timedelta(days=7)
# A statement that waits for a lock makes all later ones wait behind it, also those of logins.
_PATIENCE = "SET LOCAL lock_timeout = '2s'"
# The timeout applies to this lock too.
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"

_PARTITIONS = """
SELECT relname FROM pg_class JOIN pg_inherits ON pg_class.oid = inhrelid
WHERE inhparent = to_regclass(%s) ORDER BY relname
"""
_MOVE = """
WITH moved AS (DELETE FROM {rest} WHERE id >= '{first}' AND id < '{end}' RETURNING *)
INSERT INTO {partition} SELECT * FROM moved
"""
_COPY = "INSERT INTO {smaller} SELECT * FROM {partition} WHERE action = ANY(%s)"
LIKE = "INCLUDING DEFAULTS INCLUDING STORAGE"


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
        found = re.fullmatch(re.escape(TABLE) + r"_(until_)?(\d{4})_(\d{2})", name)
        if not found:
            return None
        moment = datetime(int(found[2]), int(found[3]), 1, tzinfo=UTC)
        return cls(moment) if found[1] else cls.month(moment)

    @property
    def name(self) -> str:
        moment, kind = (self.start, "") if self.start else (self.end, "until_")
        return f"{TABLE}_{kind}{moment:%Y_%m}"

    @property
    def values(self) -> str:
        first = f"'{least(self.start)}'" if self.start else "MINVALUE"
        return f"FOR VALUES FROM ({first}) TO ('{self.end_id}')"

    @property
    def end_id(self) -> UUID:
        return least(self.end)


TABLE = Entry._meta.db_table
# For entries beyond the last month, if the command has not been run for long.
REST = f"{TABLE}_rest"


def extend(months: int) -> list[str]:
    """Create the partitions up to `months` after the present one; returns the names of those that
    this run created."""
    last, created = datetime.now(UTC) + timedelta(days=30 * months), []
    while name := _create_next(last):
        created.append(name)
    return created


def _create_next(last: datetime) -> str | None:
    """The name of the partition after the last one, or None if that would begin after `last`."""
    with briefly():
        start = _partitions()[-1].end
        if start > last:
            return None
        partition = Partition.month(start)
        first, end = least(start), partition.end_id
        run(f"CREATE TABLE {partition.name} (LIKE {TABLE} {LIKE} INCLUDING INDEXES)")
        run(f"LOCK TABLE {REST}")
        run(_MOVE.format(rest=REST, partition=partition.name, first=first, end=end))
        run(f"ALTER TABLE {TABLE} ATTACH PARTITION {partition.name} {partition.values}")
    return partition.name


def shrink() -> dict[str, int]:
    """Drop the expired entries of past months; returns their numbers by partition.

    A month waits until each of its actions has expired as a whole or not at all. Then the entries
    to keep are copied into a new partition, and the old one is dropped. A month without entries is
    dropped too. What is dropped is recorded like a cleanup.
    """
    now, dropped = datetime.now(UTC), {}
    for partition in _partitions():
        if partition.end <= now - MARGIN:
            number = _shrink(partition, now)
            if number is not None:
                dropped[partition.name] = number
    return dropped


def _shrink(partition: Partition, now: datetime) -> int | None:
    """The number of dropped entries, or None if the partition stays as it is."""
    with briefly():
        # Another run may have dropped the partition, or what had expired in it.
        if partition not in _partitions():
            return None
        expired, kept = retention.sorted_actions(_entries(partition), now)
        if kept and (not expired or set(expired) & set(kept)):
            return None
        # No entry is written into a past month, so nothing changes after this.
        number = _entries(partition).exclude(action__in=kept).count()
        if number:
            _record(number)
        _drop(partition, kept)
    return number


def _entries(partition: Partition) -> QuerySet[Entry]:
    rows = Entry.objects.filter(pk__lt=partition.end_id)
    return rows.filter(pk__gte=least(partition.start)) if partition.start else rows


def _record(number: int) -> None:
    metadata = {"deleted": number}
    writer.write(
        Event(action=retention.CLEANED, actor_type=SYSTEM, client=Client(), metadata=metadata)
    )


def _drop(partition: Partition, kept: list[str]) -> None:
    """Drop the partition; one with its entries of the actions `kept` takes its place, if any."""
    smaller = f"{partition.name}_kept"
    if kept:
        run(f"CREATE TABLE {smaller} (LIKE {TABLE} {LIKE} INCLUDING INDEXES)")
        run(_COPY.format(partition=partition.name, smaller=smaller), kept)
    # From here the table is locked.
    run(f"DROP TABLE {partition.name}")
    if kept:
        run(f"ALTER TABLE {smaller} RENAME TO {partition.name}")
        run(f"ALTER TABLE {TABLE} ATTACH PARTITION {partition.name} {partition.values}")


def analyze() -> None:
    """Renew the statistics of the whole, which no autovacuum does for a partitioned table."""
    run(f"ANALYZE {TABLE}")


def _partitions() -> list[Partition]:
    """Those by time, in their order."""
    named = (Partition.named(name) for (name,) in read(_PARTITIONS, TABLE))
    found = [partition for partition in named if partition]
    return sorted(found, key=lambda partition: partition.end)


@contextmanager
def briefly() -> Iterator[None]:
    """A transaction that waits two seconds for each of its locks, and holds them briefly.

    Runs of the command do these one after another: what one reads in it is still true when it acts.
    """
    with transaction.atomic(using=databases.primary()):
        run(_PATIENCE)
        run(_ONE_AT_A_TIME, TABLE)
        yield


def run(sql: str, *values: str | list[str]) -> None:
    with connections[databases.primary()].cursor() as cursor:
        cursor.execute(sql, values or None)


def read(sql: str, *values: str) -> Sequence[tuple[Any, ...]]:
    with connections[databases.primary()].cursor() as cursor:
        cursor.execute(sql, values or None)
        return list(cursor.fetchall())
