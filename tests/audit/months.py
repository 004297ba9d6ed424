"""The audit table in months: the command that keeps it, and what PostgreSQL says about it."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from authservice.audit import partitions
from authservice.audit.models import Entry

TABLE = Entry._meta.db_table
only_on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="only PostgreSQL has partitions"
)


def command(**options):
    """The lines that a run prints."""
    out = StringIO()
    call_command("authservice_audit_partitions", stdout=out, **options)
    return out.getvalue().splitlines()


def read(sql, *values):
    with connection.cursor() as cursor:
        cursor.execute(sql, values or None)
        return cursor.fetchall()


def execute(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)


def names():
    return [one.name.removeprefix(TABLE) for one in partitions._partitions()]


def rows_in(name):
    [[number]] = read(f"SELECT count(*) FROM {name}")
    return number


def index_names(table):
    return {
        name for (name,) in read("SELECT indexname FROM pg_indexes WHERE tablename = %s", table)
    }


def make_plain():
    """Make the table as migrations made it, without its entries."""
    with connection.schema_editor() as editor:
        editor.execute(f"DROP TABLE {TABLE} CASCADE")
        editor.create_model(Entry)
