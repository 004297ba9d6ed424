"""The indexes for searches and filters: created concurrently, created again if invalid, dropped."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from authservice.admin import user_list
from authservice.kernel import databases
from tests.support.people import make_user

# CREATE INDEX CONCURRENTLY cannot run in a transaction.
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="only PostgreSQL has these indexes"
    ),
]


@pytest.fixture
def search_index():
    def run(*options):
        out = StringIO()
        call_command("authservice_search_index", *options, stdout=out)
        return out.getvalue()

    yield run
    run("--drop")


def expected():
    return {index.name for index in user_list.wanted_indexes(databases.primary())}


def valid():
    """The names of the indexes that exist and are valid."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class JOIN pg_index ON indexrelid = pg_class.oid"
            " WHERE indisvalid AND relname = ANY(%s)",
            [list(expected())],
        )
        return {name for (name,) in cursor.fetchall()}


def test_all_indexes_are_created(search_index):
    make_user("ann@example.com")

    search_index()

    assert valid() == expected() != set()


def test_second_run_keeps_existing_indexes(search_index):
    search_index()

    assert search_index().count("already exists") == len(expected())


def test_invalid_index_is_created_again(search_index):
    search_index()
    invalid = min(expected())
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass(%s)",
            [invalid],
        )

    search_index()

    assert valid() == expected()


def test_all_indexes_are_dropped(search_index):
    search_index()

    output = search_index("--drop")

    assert valid() == set()
    assert output.count("Dropped") == len(expected())
