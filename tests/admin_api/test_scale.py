"""A page is the same whether it is read from the sort index or all matches are sorted."""

from itertools import product

import pytest
from django.db import connection

from authservice.admin import user_list
from authservice.core.models import Account
from tests.support.people import make_user
from tests.support.statements import statements

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="other databases have one query plan only"
    ),
]

ORDERS = tuple(product(("created_at", "email", "username", "name"), ("asc", "desc")))


@pytest.fixture
def forty_users(root):
    """40 users, of whom 10 match the search "zz" and are at one end of each order."""
    for number in range(40):
        make_user(f"{'zz' if number > 29 else 'aa'}{number:02}@example.com")
    for account in Account.objects.all():
        account.name = account.email
        account.save()


@pytest.fixture(params=[150, 5, 1], ids=["whole index", "long scan", "short scan"])
def index_scan(request, monkeypatch):
    """How many index entries per row of the page are read before all matches are sorted instead."""
    monkeypatch.setattr(user_list, "READ_PER_ROW", request.param)


def emails(answer):
    return [user["email"] for user in answer.data["list"]]


@pytest.mark.parametrize("text", ["zz", "@example"], ids=["at one end", "everywhere"])
@pytest.mark.parametrize("offset", [0, 8])
@pytest.mark.parametrize(("field", "direction"), ORDERS)
def test_page_of_a_search_does_not_depend_on_the_query_plan(
    root, forty_users, index_scan, field, direction, offset, text
):
    sign = "-" if direction == "desc" else ""
    rows = Account.objects.filter(email__contains=text).order_by(sign + field, f"{sign}user_id")

    answer = root.users(query=text, sort_field=field, sort_dir=direction, limit=4, offset=offset)

    assert emails(answer) == [row.email for row in rows[offset : offset + 4]]


@pytest.mark.parametrize(("field", "direction"), ORDERS)
def test_page_of_a_period_does_not_depend_on_the_query_plan(
    root, forty_users, index_scan, field, direction
):
    middle = Account.objects.order_by("created_at")[20].created_at
    sign = "-" if direction == "desc" else ""
    rows = Account.objects.filter(created_at__lt=middle).order_by(sign + field, f"{sign}user_id")

    answer = root.users(
        created_before=middle.isoformat().replace("+00:00", "Z"),
        sort_field=field,
        sort_dir=direction,
        limit=4,
    )

    assert emails(answer) == [row.email for row in rows[:4]]


def test_search_with_matches_at_the_end_of_the_index_is_sorted_instead(
    root, forty_users, monkeypatch
):
    monkeypatch.setattr(user_list, "READ_PER_ROW", 1)

    def ask():
        assert len(root.users(query="zz", sort_field="email", sort_dir="asc").data["list"]) == 10

    index_scan, page = statements(ask)[1:]
    assert "COALESCE" not in index_scan.upper().partition("ORDER BY")[2]
    assert "COALESCE" in page.upper()
