"""The total of a list: exact, except for a full page of very many matches in a large table."""

import pytest
from django.db import connection

from authservice.admin import user_list
from authservice.core.models import Account
from tests.support.people import make_user

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="other databases always count"),
]


@pytest.fixture
def large(root, monkeypatch):
    """A table of 30 users counts as large, and 15 matches as very many."""
    for number in range(29):
        make_user(f"p{number:02}@example.com")
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {Account._meta.db_table}")
    monkeypatch.setattr(user_list, "LARGE", 20)
    monkeypatch.setattr(user_list, "COUNTED", 15)
    monkeypatch.setattr(user_list, "READ_PER_ROW", 1)


def test_total_of_all_users_is_from_the_statistics(root, large):
    make_user("late@example.com")  # not in the statistics yet

    assert root.users(limit=10).data["total"] == 30


def test_total_of_all_users_is_exact_on_the_last_page(root, large):
    for number in range(5):
        make_user(f"late{number}@example.com")

    assert root.users(offset=30, limit=10).data["total"] == 35


def test_total_of_many_matches_is_a_lower_bound(root, large):
    assert root.users(query="@example", limit=5).data["total"] == 16


def test_total_of_many_matches_allows_one_more_page(root, large, monkeypatch):
    monkeypatch.setattr(user_list, "COUNTED", 5)

    assert root.users(query="@example", limit=10).data["total"] == 11


def test_total_of_few_matches_is_exact(root, large):
    assert root.users(query="p0", limit=2).data["total"] == 10


def test_total_of_many_matches_is_exact_on_the_last_page(root, large):
    assert root.users(query="@example", offset=20, limit=20).data["total"] == 30


def test_total_of_many_matches_in_a_small_table_is_exact(root, large, monkeypatch):
    monkeypatch.setattr(user_list, "LARGE", 30)

    assert root.users(query="@example", limit=5).data["total"] == 30


def test_page_beyond_the_end_is_empty_with_an_exact_total(root, large):
    answer = root.users(offset=100)

    assert (answer.data["list"], answer.data["total"]) == ([], 30)
