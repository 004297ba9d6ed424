"""The audit table in one partition for each month, on PostgreSQL.

Ids are UUIDs version 7, which sort by time, so a month is a range of ids; `least` is the lowest id
of a moment. Primary key, indexes and model stay as they are. The existing rows become the first
partition, and none is copied. Dropping an expired month takes milliseconds and leaves nothing to
vacuum.

`convert` changes the plain table while the service keeps running. Each run of the command then
calls `extend`, which adds months, and `shrink`, which drops expired ones. Each step is a short
transaction and can be repeated, so a run continues what an aborted one began, and of several
concurrent runs each may take the next step.
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

from authservice.audit import retention, writer
from authservice.audit.models import Entry
from authservice.kernel import clock, databases
from authservice.kernel.actions import SYSTEM
from authservice.kernel.client import Client
from authservice.kernel.clock import least_uuid7
from authservice.kernel.events import Event

# The first partition ends at least this long after the conversion: meanwhile entries are written.
MARGIN = timedelta(days=7)
# A statement that waits for a lock makes all later ones wait behind it, also those of logins.
_PATIENCE = "SET LOCAL lock_timeout = '2s'"
# `lock_timeout` applies to this advisory lock too.
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
TABLE = Entry._meta.db_table
# The default partition, for entries beyond the last month if the command has not run for long.
REST = f"{TABLE}_rest"
# Not `%s::regclass`: PostgreSQL would look the name up before the statement runs, perhaps in a
# cache from before another run swapped the tables. `to_regclass` looks it up while it runs.
_IS_PARTITIONED = "SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass(%s)"
# The objects that depend on the table. `pg_rewrite` has its rules, which depend on it too, and the
# views that read it: a view is stored as its own rule `_RETURN`.
_OBSTACLES = """
WITH entries AS (
    SELECT pg_class.oid, nspname, relname, relrowsecurity
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE pg_class.oid = to_regclass(%s)
)
SELECT 'row security' FROM entries WHERE relrowsecurity
UNION SELECT 'trigger ' || tgname
    FROM entries JOIN pg_trigger ON tgrelid = entries.oid AND NOT tgisinternal
UNION SELECT format('foreign key %%s of %%s', conname, conrelid::regclass)
    FROM entries JOIN pg_constraint ON contype = 'f' AND entries.oid IN (conrelid, confrelid)
UNION SELECT CASE rulename WHEN '_RETURN' THEN 'view ' ELSE format('rule %%s of ', rulename) END
        || ev_class::regclass
    FROM entries
    JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = entries.oid
    JOIN pg_rewrite ON classid = 'pg_rewrite'::regclass AND objid = pg_rewrite.oid
UNION SELECT 'publication ' || pubname
    FROM entries JOIN pg_publication_tables
    ON schemaname = nspname AND tablename = relname
ORDER BY 1
"""
_BOUNDS = r"""
SELECT conname FROM pg_constraint
WHERE conrelid = to_regclass(%s) AND conname ~ '_until_\d{4}_\d{2}_bound$'
"""
_KEY = "SELECT conname FROM pg_constraint WHERE conrelid = to_regclass(%s) AND contype = 'p'"
_GRANTS = """
SELECT format('GRANT %%s ON %%I TO %%s%%s', privilege_type, relname,
    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,
    CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = to_regclass(%s) AND grantee <> relowner
"""


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
        """The partition that a table of this name is; None if the name is not that of a month."""
        match = re.fullmatch(re.escape(TABLE) + r"_(until_)?(\d{4})_(\d{2})", name)
        if not match:
            return None
        moment = datetime(int(match[2]), int(match[3]), 1, tzinfo=UTC)
        return cls(moment) if match[1] else cls.month(moment)

    @property
    def name(self) -> str:
        moment, kind = (self.start, "") if self.start else (self.end, "until_")
        return f"{TABLE}_{kind}{moment:%Y_%m}"

    @property
    def values(self) -> str:
        first = f"'{least_uuid7(self.start)}'" if self.start else "MINVALUE"
        return f"FOR VALUES FROM ({first}) TO ('{self.end_id}')"

    @property
    def end_id(self) -> UUID:
        return least_uuid7(self.end)


class UnsuitableTable(Exception):
    """Objects of the host depend on the table and would not move to the table in its place."""


def is_partitioned() -> bool:
    if connections[databases.primary()].vendor != "postgresql":
        return False
    [[answer]] = read(_IS_PARTITIONED, TABLE)
    return bool(answer)


def convert() -> Partition | None:
    """Make the table partitioned; returns the partition that has the existing rows, or None if
    the table is partitioned already.

    The rows are read once, while other transactions read and write. Raises UnsuitableTable with
    the names of what depends on the table, and OperationalError if a lock is not free within two
    seconds.
    """
    last_month = Partition.month(clock.utc() + MARGIN)
    former = Partition(last_month.end)  # without a start: it takes all existing rows
    for step in (_bind, _validate, _swap):
        with briefly():
            # Another run may have done this step and all later ones.
            if is_partitioned():
                return None
            step(former)
    return former


def _bind(former: Partition) -> None:
    """Let the table accept only the rows of `former`."""
    if obstacles := [name for (name,) in read(_OBSTACLES, TABLE)]:
        raise UnsuitableTable(f"The table {TABLE} has dependent objects: {', '.join(obstacles)}.")
    bounds = {name for (name,) in read(_BOUNDS, TABLE)}
    # Aborted runs of an earlier month left the bounds of that month.
    for outdated in bounds - {_bound(former)}:
        run(f"ALTER TABLE {TABLE} DROP CONSTRAINT {_quote(outdated)}")
    if _bound(former) not in bounds:
        check = f"CHECK (id < '{former.end_id}') NOT VALID"
        run(f"ALTER TABLE {TABLE} ADD CONSTRAINT {_bound(former)} {check}")


def _validate(former: Partition) -> None:
    # Blocks neither reads nor writes. Thanks to the constraint, attaching the table reads no row.
    run(f"ALTER TABLE {TABLE} VALIDATE CONSTRAINT {_bound(former)}")


def _swap(former: Partition) -> None:
    """Put a partitioned table in the place of the plain one, which becomes its first partition."""
    run(f"LOCK TABLE {TABLE}")
    grants = [sql for (sql,) in read(_GRANTS, TABLE)]
    [[primary_key]] = read(_KEY, TABLE)

    # Rename the table and its indexes. Indexes of the host keep their names: the new table has
    # none of them.
    for name in (primary_key, *(index.name for index in Entry._meta.indexes)):
        run(f"ALTER INDEX IF EXISTS {_quote(name)} RENAME TO {_quote(f'{name}_until')}")
    run(f"ALTER TABLE {TABLE} RENAME TO {former.name}")

    # Create an empty partitioned table in its place.
    run(f"CREATE TABLE {TABLE} (LIKE {former.name} {LIKE}) PARTITION BY RANGE (id)")
    run(f"ALTER TABLE {TABLE} ADD CONSTRAINT {_quote(primary_key)} PRIMARY KEY (id)")
    with connections[databases.primary()].schema_editor(atomic=False) as editor:
        for index in Entry._meta.indexes:
            editor.add_index(Entry, index)
    for grant in grants:
        run(grant)

    # The former table becomes its first partition.
    run(f"ALTER TABLE {TABLE} ATTACH PARTITION {former.name} {former.values}")
    run(f"ALTER TABLE {former.name} DROP CONSTRAINT {_bound(former)}")
    run(f"CREATE TABLE {REST} PARTITION OF {TABLE} DEFAULT")


def _bound(former: Partition) -> str:
    return f"{former.name}_bound"


def _quote(name: str) -> str:
    return connections[databases.primary()].ops.quote_name(name)


def extend(months: int) -> list[str]:
    """Create the partitions up to `months` after the present one; returns the names of those that
    this run created."""
    last = clock.utc() + timedelta(days=30 * months)
    created = []
    while name := _create_next(last):
        created.append(name)
    return created


def _create_next(last: datetime) -> str | None:
    """Create the partition after the present ones; returns its name, or None if it would begin
    after `last`."""
    with briefly():
        start = _partitions()[-1].end
        if start > last:
            return None
        partition = Partition.month(start)
        first, end = least_uuid7(start), partition.end_id
        run(f"CREATE TABLE {partition.name} (LIKE {TABLE} {LIKE} INCLUDING INDEXES)")
        # If the command has not run for long, entries of this month are in the default partition.
        # PostgreSQL attaches no partition while they are there.
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
    now = clock.utc()
    dropped = {}
    for partition in _partitions():
        # A transaction that began before the end may still write an entry of that month.
        if partition.end <= now - MARGIN:
            number = _shrink(partition, now)
            if number is not None:
                dropped[partition.name] = number
    return dropped


def _shrink(partition: Partition, now: datetime) -> int | None:
    """Drop the expired entries of one month; returns their number, or None if the partition stays
    as it is."""
    with briefly():
        # Another run may have dropped the partition, or what had expired in it.
        if partition not in _partitions():
            return None
        entries = Entry.objects.filter(pk__lt=partition.end_id)
        if partition.start:
            entries = entries.filter(pk__gte=least_uuid7(partition.start))
        expired_actions, kept_actions = retention.sorted_actions(entries, now)
        # Nothing has expired yet, or an action only in part (it is in both lists): wait.
        if kept_actions and (not expired_actions or set(expired_actions) & set(kept_actions)):
            return None

        # No entry is written into a past month, so nothing changes after this.
        number = entries.exclude(action__in=kept_actions).count()
        if number:
            cleaned = Event(
                action=retention.CLEANED,
                actor_type=SYSTEM,
                client=Client(),
                metadata={"deleted": number},
            )
            writer.write(cleaned)

        # A smaller partition with the entries to keep takes the place of this one.
        smaller = f"{partition.name}_kept"
        if kept_actions:
            run(f"CREATE TABLE {smaller} (LIKE {TABLE} {LIKE} INCLUDING INDEXES)")
            run(_COPY.format(partition=partition.name, smaller=smaller), kept_actions)
        # From here the table is locked.
        run(f"DROP TABLE {partition.name}")
        if kept_actions:
            run(f"ALTER TABLE {smaller} RENAME TO {partition.name}")
            run(f"ALTER TABLE {TABLE} ATTACH PARTITION {partition.name} {partition.values}")
    return number


def analyze() -> None:
    """Renew the statistics of the partitioned table: autovacuum does that only for partitions."""
    run(f"ANALYZE {TABLE}")


def _partitions() -> list[Partition]:
    """The partitions by month, in the order of time. The default partition is not one of them."""
    named = (Partition.named(name) for (name,) in read(_PARTITIONS, TABLE))
    by_month = [partition for partition in named if partition]
    return sorted(by_month, key=lambda partition: partition.end)


@contextmanager
def briefly() -> Iterator[None]:
    """A transaction that waits two seconds for each of its locks, and holds them briefly.

    Of concurrent runs of the command, one at a time is in such a transaction. So what a run reads
    in it is still true when the run acts.
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
