"""Run our compiled statements as prepared statements of PostgreSQL.

Planning the joins of a look-up by key costs PostgreSQL several times as much as running it. Django
turns the preparation of psycopg off (`prepare_threshold` is None), and its default cursors insert
the values on the client, which never prepares. Our statements therefore run on a cursor of their
own, with a threshold while they run. The project's own statements are not affected.

This needs a kept connection to the server itself. Behind a pooler that changes connections between
transactions (PgBouncer), a statement may be missing, or its name belong to another client's.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import count
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from django.db import Error, OperationalError

from authservice.kernel import settings
from authservice.kernel.sections import root

logger = logging.getLogger("authservice.request")

# psycopg runs a statement this often on a connection before it prepares it.
_THRESHOLD = 2
# SQLSTATEs: no such statement, its name is in use, a column that it reads has changed its type.
_MISSING, _DUPLICATE, _CHANGED = "26000", "42P05", "0A000"

# Whether statements are prepared, by connection of psycopg; and databases that have lost some.
_allowed: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
_lost: set[str] = set()

Result = TypeVar("Result")


class PreparedStatementLost(OperationalError):
    """A prepared statement was lost. The transaction is aborted and may be repeated."""


def run(connection: Any, sql: str, params: Sequence[Any], read: Callable[[Any], Result]) -> Result:
    """Run the statement on a connection of Django and return `read(cursor)`.

    Raises `PreparedStatementLost` inside a transaction; outside of one, the statement is run again.
    """
    try:
        return _run(connection, sql, params, read)
    except Error as error:
        state = getattr(error.__cause__, "sqlstate", None)
        if state not in (_MISSING, _DUPLICATE, _CHANGED):
            raise
        _recover(connection, error, changed=state == _CHANGED)
        if connection.in_atomic_block or not connection.get_autocommit():
            raise PreparedStatementLost(*error.args) from error
    return _run(connection, sql, params, read)


def _run(connection: Any, sql: str, params: Sequence[Any], read: Callable[[Any], Result]) -> Result:
    with _cursor(connection) as cursor:
        cursor.execute(sql, params)
        return read(cursor)


def _cursor(connection: Any) -> Any:
    """A cursor of Django, so that instrumentation sees the statement. It prepares if it may."""
    driver = connection.connection
    if driver is None or not _is_prepared(connection, driver):
        return connection.cursor()
    theirs = driver.cursor_factory
    driver.cursor_factory = _preparing(connection.Database, connection.timezone is not None)
    try:
        return connection.cursor()
    finally:
        driver.cursor_factory = theirs


@cache
def _preparing(driver: Any, aware: bool) -> Any:
    loader = driver.types.datetime.TimestamptzLoader

    class PreparingCursor(driver.RawCursor):  # type: ignore[misc]
        def execute(self, query: str, params: Any = None) -> Any:
            if aware:  # psycopg's own loader is in C, Django's in Python: see docs/benchmarks.rst.
                self.adapters.register_loader("timestamptz", loader)
            self.connection.prepare_threshold = _THRESHOLD
            try:
                return super().execute(_numbered(query), params)
            finally:
                self.connection.prepare_threshold = None

    return PreparingCursor


@lru_cache(maxsize=256)
def _numbered(sql: str) -> bytes:
    """The statement with PostgreSQL's own `$1`, `$2`, … instead of `%s`. psycopg would convert a
    statement of more than 4096 characters or 50 values, as some of ours are, for each request."""
    number = count(1)
    text = re.sub("%[s%]", lambda found: f"${next(number)}" if found[0] == "%s" else "%", sql)
    return text.encode()


def _is_prepared(connection: Any, driver: Any) -> bool:
    # A threshold other than None is the project's own choice. Other drivers have none.
    if connection.alias in _lost or getattr(driver, "prepare_threshold", 0) is not None:
        return False
    allowed = _allowed.get(driver)
    if allowed is None:
        allowed = _allowed[driver] = _is_wanted(connection)
    return allowed


def _is_wanted(connection: Any) -> bool:
    mode, options = root.prepared_statements, connection.settings_dict
    if not hasattr(connection.Database, "RawCursor"):
        return False  # psycopg before 3.2
    kept = options["CONN_MAX_AGE"] != 0 or bool(options["OPTIONS"].get("pool"))
    pooled = bool(options.get("DISABLE_SERVER_SIDE_CURSORS"))
    return mode == "always" or (mode == "auto" and kept and not pooled and _is_direct(connection))


def _is_direct(connection: Any) -> bool:
    """Whether the connection leads to the server itself. A pooler reports other process ids."""
    with connection.wrap_database_errors, connection.Database.Cursor(connection.connection) as raw:
        (pid,) = raw.execute("SELECT pg_backend_pid()").fetchone()
    return bool(pid == connection.connection.info.backend_pid)


def _recover(connection: Any, error: Error, *, changed: bool) -> None:
    if not changed and connection.alias not in _lost:
        _lost.add(connection.alias)
        logger.error(
            "Database %r does not keep prepared statements (%s), so this process no longer prepares"
            " any. Behind a pooler, set AUTHSERVICE['PREPARED_STATEMENTS'] to 'never'.",
            connection.alias,
            error,
        )
    elif changed and not connection.in_atomic_block:
        # psycopg forgets all names after a rollback. Here there is nothing else to undo.
        _run(connection, "ROLLBACK", (), bool)


@settings.on_change
def _forget() -> None:
    _allowed.clear()
    _lost.clear()
