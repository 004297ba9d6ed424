"""Tables are emptied row by row after a test that commits.

What Django does there truncates every table and makes all permissions anew, which takes PostgreSQL
longer than most tests do. Only where a test has left a large table, that is what is done.
"""

from __future__ import annotations

from unittest.mock import patch

from django.db import connections, transaction
from django.db.backends.utils import CursorWrapper
from django.test import TransactionTestCase

# Made by `migrate`, and no test's own.
_KEPT = {"auth_permission", "django_content_type", "django_migrations"}
_LARGE = 2**18  # bytes


def quickly():
    """Within, tests that commit leave empty tables as fast as they can."""
    return patch.object(TransactionTestCase, "_fixture_teardown", _teardown)


def _teardown(case: TransactionTestCase) -> None:
    for alias in case._databases_names(include_mirrors=False):
        _empty(alias)


def _empty(alias: str) -> None:
    connection = connections[alias]
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    tables = [name for name in names if name not in _KEPT]
    with (
        connection.constraint_checks_disabled(),
        transaction.atomic(using=alias),
        connection.cursor() as cursor,
    ):
        if connection.vendor == "postgresql" and _grown(cursor, tables):
            cursor.execute(f"TRUNCATE {', '.join(map(connection.ops.quote_name, tables))}")
            return
        for table in tables:
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")


def _grown(cursor: CursorWrapper, tables: list[str]) -> bool:
    """Whether rows that are gone but not vacuumed would slow down what comes."""
    size = "pg_relation_size(to_regclass(quote_ident(name)))"
    cursor.execute(f"SELECT max({size}) FROM unnest(%s::text[]) AS name", [tables])
    (largest,) = cursor.fetchone()
    return bool(largest and largest > _LARGE)
