"""Empty tables row by row after a test that commits.

Django truncates every table and recreates all permissions, which takes PostgreSQL longer than most
tests do. Here tables are truncated only if a test left a large one.
"""

from __future__ import annotations

from unittest.mock import patch

from django.db import connections, transaction
from django.db.backends.utils import CursorWrapper
from django.test import TransactionTestCase

# Created by `migrate`; tests do not own these rows.
_KEPT = {"auth_permission", "django_content_type", "django_migrations"}
_LARGE = 2**18  # bytes


def quickly():
    """Within this context, tests that commit empty the tables in the fastest way."""
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
    """Whether dead rows that are not vacuumed yet would slow down later tests."""
    size = "pg_relation_size(to_regclass(quote_ident(name)))"
    cursor.execute(f"SELECT max({size}) FROM unnest(%s::text[]) AS name", [tables])
    (largest,) = cursor.fetchone()
    return bool(largest and largest > _LARGE)
