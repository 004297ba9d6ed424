"""The indexes for searches and filters: made beside who writes, made whole, taken away again."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from authservice.admin import indexes
from authservice.kernel import databases
from tests.people import make_user

# CREATE INDEX CONCURRENTLY runs in no transaction.
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has them"),
]


@pytest.fixture
def search_index():
    def run(*options):
        out = StringIO()
        call_command("authservice_search_index", *options, stdout=out)
        return out.getvalue()

    yield run
    run("--drop")


def names():
    return {index.name for index in indexes.wanted(databases.primary())}


def there():
    """The names of those that are there and whole."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class JOIN pg_index ON indexrelid = pg_class.oid"
            " WHERE indisvalid AND relname = ANY(%s)",
            [list(names())],
        )
        return {name for (name,) in cursor.fetchall()}


def test_all_of_them_are_made(search_index):
    make_user("ann@example.com")

    search_index()

    assert there() == names() != set()


def test_a_second_run_leaves_them_alone(search_index):
    search_index()

    assert search_index().count("already exists") == len(names())


def test_one_that_was_left_unfinished_is_made_anew(search_index):
    search_index()
    unfinished = min(names())
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass(%s)",
            [unfinished],
        )

    search_index()

    assert there() == names()


def test_all_of_them_are_dropped(search_index):
    search_index()

    said = search_index("--drop")

    assert there() == set()
    assert said.count("Dropped") == len(names())
