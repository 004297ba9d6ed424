"""Counters of tries that hold exactly: counted in the database before anything is judged.

One statement takes a try, and whether it changed a row is the verdict, so parallel guesses cannot
share one. It runs and commits on its own: a refused request keeps its count.

A budget of `limit` tries opens with the first one and closes after `window`. When it is used up the
door stays shut for a full window; after that each single try is followed by a longer wait, up to
`longest`, until a day passes without one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.db import connections, router
from django.db.models import F
from django.utils import timezone

from authservice.core.models import Attempt
from authservice.kernel import conf, crypto, errors

FORGIVEN_AFTER = timedelta(days=1)
_STRIKES = 3


@dataclass(frozen=True, kw_only=True)
class Budget:
    """`limit` tries in `window`, then waits that double from `window` up to `longest`."""

    limit: int
    window: timedelta
    longest: timedelta

    def wait(self, strikes: int) -> timedelta:
        """How long a window lasts that opens after so many used-up ones."""
        return min(self.window * 2 ** max(strikes - 1, 0), self.longest)


PASSWORD = Budget(limit=10, window=timedelta(minutes=15), longest=timedelta(hours=1))


def key(scope: str, subject: str) -> str:
    """The row that counts `scope` for `subject`; a keyed digest, so unknown ones count alike."""
    return crypto.digest("attempt", f"{scope}:{subject}")


def take(key: str, budget: Budget) -> None:
    """Count one try. Raises `TooManyAttempts` when none is left."""
    using = router.db_for_write(Attempt)
    now = timezone.now()
    if not _counted(key, budget, now, using):
        raise errors.TooManyAttempts(headers={"Retry-After": str(_wait(key, now, using))})


def give_back(keys: Iterable[str]) -> None:
    """A try that succeeded was no guess."""
    rows = Attempt.objects.using(router.db_for_write(Attempt))
    rows.filter(key__in=list(keys), count__gt=0).update(count=F("count") - 1)


def _wait(key: str, now: datetime, using: str) -> int:
    row = Attempt.objects.using(using).filter(key=key).first()
    return max(1, int((row.ends_at - now).total_seconds()) + 1) if row else 1


def _counted(key: str, budget: Budget, now: datetime, using: str) -> bool:
    connection = connections[using]
    values = _values(key, budget, now, connection)
    with connection.cursor() as cursor:
        for statement in _statements(using):
            cursor.execute(statement.sql, [values[name] for name in statement.names])
            if cursor.rowcount > 0:
                return True
    return False


def _values(key: str, budget: Budget, now: datetime, connection: Any) -> dict[str, Any]:
    adapt = connection.ops.adapt_datetimefield_value
    return {
        "key": key,
        "limit": budget.limit,
        "now": adapt(now),
        "forgiven": adapt(now - FORGIVEN_AFTER),
        **{f"end{n}": adapt(now + budget.wait(n)) for n in range(_STRIKES + 1)},
    }


@dataclass(frozen=True)
class _Statement:
    sql: str
    names: tuple[str, ...]


@cache
def _statements(using: str) -> tuple[_Statement, ...]:
    connection = connections[using]
    table = connection.ops.quote_name(Attempt._meta.db_table)
    if connection.vendor == "mysql":
        update = _bind(_MYSQL_UPDATE, table, connection)
        return update, _bind(_MYSQL_INSERT, table, connection), update
    return (_bind(_UPSERT, table, connection),)


def _bind(template: str, table: str, connection: Any) -> _Statement:
    """Quote the names `[column]` and turn the parameters `:name` into placeholders."""
    sql, names = template.replace("TABLE", table), []
    for column in ("key", "count", "strikes", "ends_at"):
        sql = sql.replace(f"[{column}]", connection.ops.quote_name(column))
    words = sql.split()
    for position, word in enumerate(words):
        name = word.strip("(),")
        if name.startswith(":"):
            names.append(name[1:])
            words[position] = word.replace(name, "%s")
    return _Statement(" ".join(words), tuple(names))


_SPENT = "TABLE.[count] >= CASE WHEN TABLE.[strikes] = 0 THEN :limit ELSE 1 END"
_STRIKE = f"""CASE
    WHEN TABLE.[ends_at] > :now THEN TABLE.[strikes]
    WHEN TABLE.[ends_at] > :forgiven AND {_SPENT}
        THEN CASE WHEN TABLE.[strikes] >= {_STRIKES} THEN {_STRIKES} ELSE TABLE.[strikes] + 1 END
    ELSE 0 END"""
_COUNT = "CASE WHEN TABLE.[ends_at] > :now THEN TABLE.[count] + 1 ELSE 1 END"
_OPEN = f"( TABLE.[ends_at] <= :now OR NOT ( {_SPENT} ) )"


def _end(strikes: str, count: str) -> str:
    """When the window ends, given SQL for the new strikes and the new count."""
    return f"""CASE
    WHEN TABLE.[ends_at] > :now AND TABLE.[strikes] = 0 AND {count} >= :limit THEN :end0
    WHEN TABLE.[ends_at] > :now THEN TABLE.[ends_at]
    ELSE CASE {strikes} WHEN 0 THEN :end0 WHEN 1 THEN :end1 WHEN 2 THEN :end2 ELSE :end3 END
    END"""


# Standard SQL sees the old row on every right-hand side.
_UPSERT = f"""INSERT INTO TABLE ( [key], [count], [strikes], [ends_at] )
    VALUES ( :key, 1, 0, :end0 ) ON CONFLICT ( [key] ) DO UPDATE SET
    [strikes] = {_STRIKE}, [count] = {_COUNT}, [ends_at] = {_end(_STRIKE, "TABLE.[count] + 1")}
    WHERE {_OPEN}"""

# MySQL and MariaDB assign from left to right and see what was assigned before; their upsert takes
# no condition, so an update goes first and an insert catches the first try of all.
_MYSQL_UPDATE = f"""UPDATE TABLE SET TABLE.[strikes] = {_STRIKE}, TABLE.[count] = {_COUNT},
    TABLE.[ends_at] = {_end("TABLE.[strikes]", "TABLE.[count]")}
    WHERE TABLE.[key] = :key AND {_OPEN}"""
_MYSQL_INSERT = """INSERT IGNORE INTO TABLE ( [key], [count], [strikes], [ends_at] )
    VALUES ( :key, 1, 0, :end0 )"""


@conf.on_change
def _forget() -> None:
    _statements.cache_clear()
