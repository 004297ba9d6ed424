"""The number of SQL statements of each request, without those that begin or end transactions."""

import pytest
from django.db import connection

from tests.admin_api.people import ANN
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

# On PostgreSQL, the page and the total take one statement each.
LIST = 3 if connection.vendor == "postgresql" else 2


def count(call):
    return len(statements(call))


@pytest.mark.parametrize(
    "query",
    [{}, {"sort_field": "name"}, {"query": "ann"}, {"active": "true"}, {"query": "nobody"}],
    ids=str,
)
def test_list_takes_two_statements_or_three_on_postgresql(root, ann, query):
    root.users(**query)

    assert count(lambda: root.users(**query)) == LIST


def test_one_user_takes_two_statements(root, ann_id):
    root.show(ann_id)

    assert count(lambda: root.show(ann_id)) == 2


def test_change_takes_seven_statements(root, ann_id):
    root.put(ann_id, name="first")

    assert count(lambda: root.put(ann_id, name="Anna")) == 7


def test_change_of_address_takes_twelve_statements(root, ann_id):
    root.put(ann_id, email="first@example.com")

    assert count(lambda: root.put(ann_id, email="anna@example.com")) == 12


def test_suspension_takes_ten_statements(root, ann_id):
    root.put(ann_id, name="first")

    assert count(lambda: root.do("suspend", ann_id)) == 10


def test_creation_takes_six_statements(root, ann):
    root.create(email="first@example.com")

    assert count(lambda: root.create(email="eve@example.com")) == 6


def test_request_without_the_right_takes_one_statement(api, ann):
    assert count(lambda: api.get("admin/users", token=ann["access_token"])) == 1
    assert ANN
