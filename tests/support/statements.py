"""The SQL statements of a call, on the database of the users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connection, connections

from authservice.kernel import databases

# PostgreSQL writes a login in one statement: the insertion of the session together with
# `last_login`, the returned attempt and the new device. Each of these is one statement less there.
ALONG = 1 if connection.vendor == "postgresql" else 0
# The statement that locks the row of a user, which SQLite has no need of.
UNLOCKED = 1 if connection.vendor == "sqlite" else 0
# Additional statements of MySQL and MariaDB for a new counter: an UPDATE that finds no row precedes
# the INSERT.
FIRST = 1 if connection.vendor == "mysql" else 0
# Those of transactions, and those by which MySQL and MariaDB set up a new connection.
_TRANSACTION = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK", "SET ")


def statements(call: Callable[[], object]) -> list[str]:
    """The statements of `call` in order, without values and without those of transactions."""
    texts = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        texts.append(sql)
        return execute(sql, params, many, context)

    with connections[databases.primary()].execute_wrapper(note):
        call()
    return [text for text in texts if not text.startswith(_TRANSACTION)]
