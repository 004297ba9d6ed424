"""Where counting is dear, PostgreSQL's own expectation is the total; never where the end shows."""

import pytest
from django.db import connection

from authservice.admin import strategies
from authservice.core.models import Account
from tests.people import make_user

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL says before"),
]


@pytest.fixture
def dear(root, monkeypatch):
    """Everything is too dear to be counted; 30 users."""
    for number in range(29):
        make_user(f"p{number:02}@example.com")
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {Account._meta.db_table}")
    monkeypatch.setattr(strategies, "CHEAP", 0)
    monkeypatch.setattr(strategies, "MANY", 0)


def test_the_total_is_what_the_planner_expects(root, dear):
    answer = root.users(limit=10)

    assert len(answer.data["list"]) == 10
    assert answer.data["total"] == 30


def test_the_last_page_says_how_many_there_are(root, dear):
    for number in range(5):
        make_user(f"late{number}@example.com")  # of whom the planner knows nothing yet

    assert root.users(offset=30, limit=10).data["total"] == 35


def test_a_total_is_never_less_than_what_was_shown(root, dear):
    assert root.users(query="p0", limit=10).data["total"] >= 10


def test_a_page_beyond_the_end_is_empty(root, dear):
    answer = root.users(offset=100)

    assert (answer.data["list"], answer.data["total"]) == ([], 30)


def test_rows_are_the_same_as_where_all_are_counted(root, dear, monkeypatch):
    walked = root.users(sort_field="email", sort_dir="asc").data["list"]
    monkeypatch.setattr(strategies, "CHEAP", 10**9)

    assert root.users(sort_field="email", sort_dir="asc").data["list"] == walked
