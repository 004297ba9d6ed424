"""Among very many users no list reads a table in whole, and each page is the right one."""

import os
from itertools import product

import pytest
from django.db import connection

from authservice.admin import strategies
from authservice.core.models import Account
from tests.hosts.runs import python
from tests.people import make_user

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL says before"),
]

ORDERS = tuple(product(("created_at", "email", "username", "name"), ("asc", "desc")))


@pytest.fixture
def crowd(root, monkeypatch):
    """40 people, of whom 10 are searched for and lie at one end of each order; all are many."""
    for number in range(40):
        make_user(f"{'zz' if number > 29 else 'aa'}{number:02}@example.com")
    for kept in Account.objects.all():
        kept.name = kept.email
        kept.save()
    monkeypatch.setattr(strategies, "MANY", 0)
    monkeypatch.setattr(strategies, "CHEAP", 0)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {Account._meta.db_table}")
        # In a small table the planner would rather look at all of it.
        cursor.execute("SET enable_seqscan = off")
        yield
        cursor.execute("RESET enable_seqscan")


@pytest.fixture(params=[150, 1], ids=["a long walk", "a short walk"])
def patience(request, monkeypatch):
    monkeypatch.setattr(strategies, "SCANNED_PER_ROW", request.param)


def emails(answer):
    return [user["email"] for user in answer.data["list"]]


@pytest.mark.parametrize("offset", [0, 3, 8])
@pytest.mark.parametrize(("field", "direction"), ORDERS)
def test_a_page_is_the_same_however_it_is_found(root, crowd, patience, field, direction, offset):
    sign = "-" if direction == "desc" else ""
    rows = Account.objects.filter(email__contains="zz").order_by(sign + field, f"{sign}user_id")

    answer = root.users(query="zz", sort_field=field, sort_dir=direction, limit=4, offset=offset)

    assert emails(answer) == [row.email for row in rows[offset : offset + 4]]


@pytest.mark.parametrize(("field", "direction"), ORDERS)
def test_limits_of_time_hold_on_the_walk_too(root, crowd, patience, field, direction):
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


@pytest.mark.slow
def test_no_table_is_read_in_whole_for_any_list_of_200_000_users():
    address = os.environ["DATABASE_URL"].rpartition("/")[0] + "/postgres"
    run = python(
        *("-m", "tests.benchmarks.scale", "--users", "200000", "--plans-only"),
        *("--database-url", address),
    )

    assert run.returncode == 0, run.stdout
