"""The SQL that a call costs, where the people are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connection, connections

from authservice.kernel import databases

# PostgreSQL writes some changes in the statement that begins a sign-in: the guess that was none,
# and when its person last signed in where nobody else hears of that. Each is a statement less.
ALONG = 1 if connection.vendor == "postgresql" else 0
# MySQL and MariaDB open a new counter by two statements: an UPDATE that finds none, and an INSERT.
FIRST = 1 if connection.vendor == "mysql" else 0
_TRANSACTION = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK")


def statements(call: Callable[[], object]) -> list[str]:
    """In order, without their values; beginnings and ends of transactions left out."""
    texts = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        texts.append(sql)
        return execute(sql, params, many, context)

    with connections[databases.primary()].execute_wrapper(note):
        call()
    return [text for text in texts if not text.startswith(_TRANSACTION)]
