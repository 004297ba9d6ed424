"""How many SQL statements each request costs, without those that begin and end transactions."""

import statistics
import time

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.db import connection
from django.test import Client

from authservice.core.models import Account
from authservice.kernel.interfaces import SessionData
from authservice.kernel.modules import plugged
from authservice.organization.models import Membership, Organization
from tests.organization.inside.people import join
from tests.support.people import unsaved
from tests.support.statements import statements

pytestmark = pytest.mark.django_db


def cost(call):
    return len(statements(call))


@pytest.fixture
def without(api):
    """The cost of a request if the module fills no slot."""

    def measure(call):
        with plugged("session_data", SessionData()):
            return cost(call)

    return measure


def crowded(organizations, person):
    """Make the user a member of so many organizations."""
    made = Organization.objects.bulk_create(
        Organization(name="Acme", slug=f"crowded-{number}") for number in range(organizations)
    )
    Membership.objects.bulk_create(
        Membership(organization=organization, user=person.user) for organization in made
    )


def test_signed_in_user_costs_one_statement(ann, acme):
    assert cost(lambda: ann.get("me")) == 1
    ann.switch(acme)
    assert cost(lambda: ann.get("me")) == 1


@pytest.mark.parametrize("organizations", [1, 100])
def test_login_costs_one_more_statement(ann, api, without, organizations):
    crowded(organizations, ann)
    api.log_in(ann.email)

    def log_in():
        return api.log_in(ann.email)

    assert cost(log_in) == without(log_in) + 1
    assert len(log_in()["data"]["organizations"]) == organizations


def test_refresh_costs_one_more_statement_with_an_active_organization_only(ann, acme, without):
    before = cost(ann.refresh)
    assert before == without(ann.refresh)

    ann.switch(acme)

    assert cost(ann.refresh) == before + 1


def test_own_organizations_cost_two_statements_and_a_full_page_one_more(ann):
    crowded(99, ann)
    assert cost(lambda: ann.get("org/my")) == 2

    ann.found("Last")

    assert cost(lambda: ann.get("org/my")) == 3


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("", 2),
        *[("/members", 4), ("/members?limit=1", 4), ("/members?limit=1&query=b", 4)],
        *[("/members/{ann}", 3), ("/invitations", 4)],
    ],
)
def test_reading_route_costs_a_fixed_number_of_statements(ann, acme, member, path, most):
    path = f"org/{acme}{path.format(ann=ann.id)}"

    assert ann.get(path).status == 200
    assert cost(lambda: ann.get(path)) == most


def test_list_of_members_costs_the_same_for_many(api, ann, acme, bob, eve):
    few = cost(lambda: ann.get(f"org/{acme}/members"))
    join(acme, bob)
    join(acme, eve)

    assert cost(lambda: ann.get(f"org/{acme}/members")) == few


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor != "postgresql", reason="about plans of PostgreSQL")
def test_page_of_ten_thousand_members_takes_less_than_three_of_a_hundred(ann, acme):
    small = ann.found("small")
    users, password = get_user_model(), make_password(None)
    rows = [unsaved(f"user{number}@example.com", password=None) for number in range(10_000)]
    for row in rows:
        row.password = password
    made = users.objects.bulk_create(rows)
    Account.objects.bulk_create(Account(user=user, email=user.email) for user in made)
    for organization, members in ((acme, made), (small, made[-99:])):
        Membership.objects.bulk_create(
            Membership(organization_id=organization, user=user) for user in members
        )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")

    # Without the comparison of each response with the API description.
    client, headers = Client(), {"Authorization": f"Bearer {ann.token}"}

    def seconds(organization, query):
        start = time.perf_counter()
        path = f"/auth/org/{organization}/members?{query}"
        assert client.get(path, headers=headers).status_code == 200
        return time.perf_counter() - start

    for query, start in (
        ("limit=20", ""),
        ("limit=100", "&offset=5000"),
        ("limit=20&sort_field=email", ""),
        ("limit=100&sort_field=name", "&offset=5000"),
        ("limit=20&query=user99", ""),
        ("limit=20&query=nobody", ""),
    ):
        pairs = [(seconds(acme, query + start), seconds(small, query)) for _ in range(20)]
        # In turns, and the median, since other tests use the same cores.
        large, little = (statistics.median(times) for times in zip(*pairs, strict=True))
        assert large < 3 * little, query
