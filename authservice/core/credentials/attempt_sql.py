"""The SQL that counts one attempt against a budget, for each database.

One statement opens, continues or reopens a window. It changes no row if no attempt is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connections

from authservice.core.models import AttemptCounter
from authservice.kernel import settings

STRIKES = 3  # used-up windows in a row after which waits do not grow any more
_COLUMNS = ("key", "count", "strikes", "ends_at", "day_count", "day_ends_at")


@dataclass(frozen=True)
class Statement:
    """SQL with the names of its parameters in order."""

    sql: str
    names: tuple[str, ...]


def statements(connection: Any) -> tuple[Statement, ...]:
    """Execute these in turn until one changes a row; if none does, no attempt is left."""
    alone = not connection.in_atomic_block
    return _compiled(connection.alias, alone)


@settings.cached_for_host
def _compiled(using: str, alone: bool) -> tuple[Statement, ...]:
    connection = connections[using]
    table = connection.ops.quote_name(AttemptCounter._meta.db_table)
    if connection.vendor == "mysql":
        update = _bind(_MYSQL_UPDATE, table, connection)
        return update, _bind(_MYSQL_INSERT, table, connection), update
    asynchronous = alone and connection.vendor == "postgresql"
    return (_bind(_ASYNCHRONOUS_UPSERT if asynchronous else _UPSERT, table, connection),)


def _bind(template: str, table: str, connection: Any) -> Statement:
    """Quote the names `[column]` and turn the parameters `:name` into placeholders."""
    sql, names = template.replace("TABLE", table), []
    for column in _COLUMNS:
        sql = sql.replace(f"[{column}]", connection.ops.quote_name(column))
    words = sql.split()
    for position, word in enumerate(words):
        name = word.strip("(),")
        if name.startswith(":"):
            names.append(name[1:])
            words[position] = word.replace(name, "%s")
    return Statement(" ".join(words), tuple(names))


_SPENT = "TABLE.[count] >= CASE WHEN TABLE.[strikes] = 0 THEN :limit ELSE 1 END"
_STRIKE = f"""CASE
    WHEN TABLE.[ends_at] > :now THEN TABLE.[strikes]
    WHEN TABLE.[ends_at] > :forgiven AND {_SPENT}
        THEN CASE WHEN TABLE.[strikes] >= {STRIKES} THEN {STRIKES} ELSE TABLE.[strikes] + 1 END
    ELSE 0 END"""
_COUNT = "CASE WHEN TABLE.[ends_at] > :now THEN TABLE.[count] + 1 ELSE 1 END"
_DAY_COUNT = "CASE WHEN TABLE.[day_ends_at] > :now THEN TABLE.[day_count] + 1 ELSE 1 END"
_DAY_END = "CASE WHEN TABLE.[day_ends_at] > :now THEN TABLE.[day_ends_at] ELSE :day_end END"
_OPEN = f"""( TABLE.[ends_at] <= :now OR NOT ( {_SPENT} ) )
    AND ( TABLE.[day_ends_at] <= :now OR TABLE.[day_count] < :daily )"""


def _end(strikes: str, count: str) -> str:
    """When the window ends, given SQL for the new strikes and the new count.

    The count `:hold` extends the window; no count reaches it for a budget that does not extend."""
    return f"""CASE
    WHEN TABLE.[ends_at] > :now AND TABLE.[strikes] = 0 AND {count} >= :hold THEN :end0
    WHEN TABLE.[ends_at] > :now THEN TABLE.[ends_at]
    ELSE CASE {strikes} WHEN 0 THEN :end0 WHEN 1 THEN :end1 WHEN 2 THEN :end2 ELSE :end3 END
    END"""


_INTO = "[key], [count], [strikes], [ends_at], [day_count], [day_ends_at]"
_FIRST = "VALUES ( :key, 1, 0, :end0, 1, :day_end )"

# In standard SQL every right-hand side of SET reads the old row.
_UPSERT = f"""INSERT INTO TABLE ( {_INTO} )
    {_FIRST} ON CONFLICT ( [key] ) DO UPDATE SET
    [strikes] = {_STRIKE}, [count] = {_COUNT}, [ends_at] = {_end(_STRIKE, "TABLE.[count] + 1")},
    [day_count] = {_DAY_COUNT}, [day_ends_at] = {_DAY_END}
    WHERE {_OPEN}"""  # noqa: S608 made of constants; every value is a parameter

# On PostgreSQL an attempt counted in its own transaction need not wait for the disk: other
# connections see it at once. Only a crash of the database server itself can lose counts, and only
# the latest. The setting ends with the statement's own transaction.
_ASYNCHRONOUS_UPSERT = _UPSERT.replace(
    _FIRST,
    "SELECT :key, 1, 0, :end0, 1, :day_end "
    "FROM ( SELECT set_config('synchronous_commit', 'off', true) ) AS setting",
)

# MySQL and MariaDB assign from left to right, and each expression reads the values assigned before
# it, so the order of the columns matters. Their upsert takes no condition. So an UPDATE runs first,
# and an INSERT counts the first attempt of a new counter.
_MYSQL_UPDATE = f"""UPDATE TABLE SET TABLE.[strikes] = {_STRIKE}, TABLE.[count] = {_COUNT},
    TABLE.[ends_at] = {_end("TABLE.[strikes]", "TABLE.[count]")},
    TABLE.[day_count] = {_DAY_COUNT}, TABLE.[day_ends_at] = {_DAY_END}
    WHERE TABLE.[key] = :key AND {_OPEN}"""  # noqa: S608
_MYSQL_INSERT = f"INSERT IGNORE INTO TABLE ( {_INTO} ) {_FIRST}"  # noqa: S608
