"""The statements with a generic plan in PostgreSQL, on the connection of the tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection

only_there = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="only PostgreSQL is asked to keep plans"
)


def kept(table: str, deed: Callable[[], object]) -> list[str]:
    """The prepared statements on a table, after `deed` ran so often that psycopg prepares its
    statements and PostgreSQL considers a generic plan."""
    for _ in range(8):
        deed()
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        return [sql for (sql,) in cursor.fetchall() if f'"{table}".' in sql]
