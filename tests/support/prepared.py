"""The prepared statements in PostgreSQL, on the connection of the tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection

only_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="only statements on PostgreSQL are prepared"
)


def prepared(table: str, call: Callable[[], object]) -> list[str]:
    """The prepared statements on a table, after `call` ran often enough for psycopg to prepare its
    statements and for PostgreSQL to consider a generic plan."""
    for _ in range(8):
        call()
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        return [sql for (sql,) in cursor.fetchall() if f'"{table}".' in sql]
