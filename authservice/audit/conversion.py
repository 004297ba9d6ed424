"""The change from the plain audit table to a partitioned one, while the service keeps running.

Each step is a short transaction and can be repeated, so a run continues what an aborted one began,
and of several concurrent runs each may take the next step.
"""

from __future__ import annotations

from datetime import UTC, datetime

from django.db import connections

from authservice.audit.models import Entry
from authservice.audit.partitions import LIKE, MARGIN, REST, TABLE, Partition, briefly, read, run
from authservice.kernel import databases

# A parameter cast to regclass is resolved before the statement locks the catalog, so possibly from
# a cache of before another run's swap, which this one waited for. The function is called later.
_IS_PARTITIONED = "SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass(%s)"
# A rule of the table itself depends on it too, and a view is the rule `_RETURN` of its own.
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


class UnsuitableTable(Exception):
    """Objects of the host depend on the table and would not move to the one in its place."""


def is_partitioned() -> bool:
    [[answer]] = read(_IS_PARTITIONED, TABLE)
    return bool(answer)


def convert() -> Partition | None:
    """Make the table partitioned; returns the partition that has its present rows, or None if it
    is partitioned already.

    The rows are read once, while other transactions read and write. Raises UnsuitableTable with
    the names of what depends on the table, and OperationalError if a lock is not free within two
    seconds.
    """
    former = Partition(Partition.month(datetime.now(UTC) + MARGIN).end)
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
    # Aborted runs of an earlier month left the others.
    for outdated in bounds - {_bound(former)}:
        run(f"ALTER TABLE {TABLE} DROP CONSTRAINT {_quote(outdated)}")
    if _bound(former) not in bounds:
        check = f"CHECK (id < '{former.end_id}') NOT VALID"
        run(f"ALTER TABLE {TABLE} ADD CONSTRAINT {_bound(former)} {check}")


def _validate(former: Partition) -> None:
    # Blocks neither reads nor writes. Thanks to the constraint, attaching the table reads no row.
    run(f"ALTER TABLE {TABLE} VALIDATE CONSTRAINT {_bound(former)}")


def _swap(former: Partition) -> None:
    run(f"LOCK TABLE {TABLE}")
    _replace(former.name)
    run(f"ALTER TABLE {TABLE} ATTACH PARTITION {former.name} {former.values}")
    run(f"ALTER TABLE {former.name} DROP CONSTRAINT {_bound(former)}")
    run(f"CREATE TABLE {REST} PARTITION OF {TABLE} DEFAULT")


def _replace(former: str) -> None:
    """Rename the table and its indexes, and create an empty partitioned table in its place."""
    grants = [sql for (sql,) in read(_GRANTS, TABLE)]
    [[key]] = read(_KEY, TABLE)
    # Indexes of the host keep their names: the new table has none of them.
    for name in (key, *(index.name for index in Entry._meta.indexes)):
        run(f"ALTER INDEX IF EXISTS {_quote(name)} RENAME TO {_quote(f'{name}_until')}")
    run(f"ALTER TABLE {TABLE} RENAME TO {former}")
    run(f"CREATE TABLE {TABLE} (LIKE {former} {LIKE}) PARTITION BY RANGE (id)")
    run(f"ALTER TABLE {TABLE} ADD CONSTRAINT {_quote(key)} PRIMARY KEY (id)")
    with connections[databases.primary()].schema_editor(atomic=False) as editor:
        for index in Entry._meta.indexes:
            editor.add_index(Entry, index)
    for grant in grants:
        run(grant)


def _bound(former: Partition) -> str:
    return f"{former.name}_bound"


def _quote(name: str) -> str:
    return connections[databases.primary()].ops.quote_name(name)
