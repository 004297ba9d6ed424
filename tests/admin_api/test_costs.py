"""How many SQL statements each request costs, beginnings and ends of transactions not counted."""

import pytest
from django.db import connection

from tests.admin_api.people import ANN
from tests.recovery.statements import statements

pytestmark = pytest.mark.django_db

# PostgreSQL is asked beforehand what a count would cost.
LIST = 3 if connection.vendor == "postgresql" else 2


def cost(call):
    return len(statements(call))


@pytest.mark.parametrize(
    "query",
    [{}, {"sort_field": "name"}, {"query": "ann"}, {"active": "true"}, {"query": "nobody"}],
    ids=str,
)
def test_a_list_costs_at_most_three(root, ann, query):
    root.users(**query)

    assert cost(lambda: root.users(**query)) == LIST


def test_a_user_costs_two(root, ann_id):
    root.show(ann_id)

    assert cost(lambda: root.show(ann_id)) == 2


def test_a_change_costs_eight(root, ann_id):
    root.put(ann_id, name="first")

    assert cost(lambda: root.put(ann_id, name="Anna")) == 8


def test_a_changed_address_costs_thirteen(root, ann_id):
    root.put(ann_id, email="first@example.com")

    assert cost(lambda: root.put(ann_id, email="anna@example.com")) == 13


def test_a_suspension_costs_ten(root, ann_id):
    root.put(ann_id, name="first")

    assert cost(lambda: root.do("suspend", ann_id)) == 10


def test_a_creation_costs_six(root, ann):
    root.create(email="first@example.com")

    assert cost(lambda: root.create(email="eve@example.com")) == 6


def test_a_refusal_for_lack_of_rights_costs_one(api, ann):
    assert cost(lambda: api.get("admin/users", token=ann["access_token"])) == 1
    assert ANN
