"""Run our compiled statements as prepared statements of PostgreSQL.

Planning the joins of a look-up by key costs PostgreSQL several times as much as running it. psycopg
prepares a statement that runs often, but Django turns that off (`prepare_threshold` is None), and
its default cursors insert the values on the client, which never prepares. The statements of
`kernel/sql.py` therefore run on psycopg's own cursor, with a threshold for the moment they run. The
host project needs no database options, and its own statements are not affected.

This needs a connection that is kept between requests and leads to the server itself. A pooler that
gives each transaction another connection (PgBouncer in transaction mode) may run it where the
prepared statement does not exist, or where its name belongs to a statement of another client.
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
# SQLSTATEs: the statement does not exist, its name is in use, and a migration has altered the type
# of a column that it reads.
_MISSING, _DUPLICATE, _CHANGED = "26000", "42P05", "0A000"
_PLACEHOLDER = re.compile("%[s%]")

# Whether statements are prepared on the connections of a database alias, and whether one connection
# of psycopg leads to the server itself.
_wanted: dict[str, bool] = {}
_direct: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()

Result = TypeVar("Result")


class PreparedStatementLost(OperationalError):
    """The server cannot run a statement that was prepared on this connection. The transaction is
    aborted and may be repeated."""


def run(connection: Any, sql: str, params: Sequence[Any], read: Callable[[Any], Result]) -> Result:
    """Run the statement on a connection of Django and return `read(cursor)`.

    Raises `PreparedStatementLost` inside a transaction; outside of one, the statement is run again.
    """
    try:
        return _run(connection, sql, params, read)
    except Error as error:
        if not _is_lost(connection, error):
            raise
        _recover(connection, error)
        if connection.in_atomic_block or not connection.get_autocommit():
            raise PreparedStatementLost(*error.args) from error
    return _run(connection, sql, params, read)


def _run(connection: Any, sql: str, params: Sequence[Any], read: Callable[[Any], Result]) -> Result:
    with _cursor(connection) as cursor:
        cursor.execute(sql, params)
        return read(cursor)


def _cursor(connection: Any) -> Any:
    """A cursor of Django, so that instrumentation sees the statement; it prepares what it runs if
    that is safe."""
    driver = connection.connection
    if driver is None or not _is_prepared(connection, driver):
        return connection.cursor()
    factory = driver.cursor_factory
    driver.cursor_factory = _preparing(connection.Database.RawCursor)
    try:
        return connection.cursor()
    finally:
        driver.cursor_factory = factory


@cache
def _preparing(raw: Any) -> Any:
    """psycopg's cursor with PostgreSQL's own placeholders, with a threshold while it executes."""

    class PreparingCursor(raw):  # type: ignore[misc]
        def execute(self, query: str, params: Any = None, **options: Any) -> Any:
            self.connection.prepare_threshold = _THRESHOLD
            try:
                return super().execute(_numbered(query), params, **options)
            finally:
                self.connection.prepare_threshold = None

    return PreparingCursor


@lru_cache(maxsize=256)
def _numbered(sql: str) -> bytes:
    """The statement with `$1`, `$2`, … for each `%s`.

    psycopg converts placeholders too, but again for each request if a statement is longer than 4096
    characters or has more than 50 values, as some of ours do.
    """
    numbers = count(1)
    return _PLACEHOLDER.sub(
        lambda found: f"${next(numbers)}" if found[0] == "%s" else "%", sql
    ).encode()


def _is_prepared(connection: Any, driver: Any) -> bool:
    wanted = _wanted.get(connection.alias)
    if wanted is None:
        wanted = _wanted[connection.alias] = _is_wanted(connection)
    # Another value than None is the host's own choice.
    if not wanted or driver.prepare_threshold is not None:
        return False
    direct = _direct.get(driver)
    if direct is None:
        direct = _direct[driver] = _is_direct(connection, driver)
    return direct


def _is_wanted(connection: Any) -> bool:
    if root.prepared_statements == "never" or not hasattr(connection.Database, "RawCursor"):
        return False  # RawCursor: psycopg 3.2 and newer, which Django does not require
    options = connection.settings_dict
    kept = options["CONN_MAX_AGE"] != 0 or bool(options["OPTIONS"].get("pool"))
    pooled = bool(options.get("DISABLE_SERVER_SIDE_CURSORS"))
    return root.prepared_statements == "always" or (kept and not pooled)


def _is_direct(connection: Any, driver: Any) -> bool:
    """Whether the connection leads to the server itself. A pooler reports other process ids."""
    if root.prepared_statements == "always":
        return True
    with connection.wrap_database_errors, connection.Database.Cursor(driver) as cursor:
        (pid,) = cursor.execute("SELECT pg_backend_pid()").fetchone()
    return bool(pid == driver.info.backend_pid)


def _is_lost(connection: Any, error: Error) -> bool:
    state = getattr(error.__cause__, "sqlstate", None)
    return _wanted.get(connection.alias, False) and state in (_MISSING, _DUPLICATE, _CHANGED)


def _recover(connection: Any, error: Error) -> None:
    state = getattr(error.__cause__, "sqlstate", None)
    if state != _CHANGED:
        _wanted[connection.alias] = False
        logger.error(
            "Database %r does not keep prepared statements (%s), so this process no longer prepares"
            " any. Behind a pooler, set AUTHSERVICE['PREPARED_STATEMENTS'] to 'never'.",
            connection.alias,
            error,
        )
    elif not connection.in_atomic_block:
        # psycopg forgets all names after a rollback. Here there is nothing else to undo.
        with _cursor(connection) as cursor:
            cursor.execute("ROLLBACK", ())


@settings.on_change
def _forget() -> None:
    _wanted.clear()
