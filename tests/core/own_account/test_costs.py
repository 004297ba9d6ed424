"""SQL statements of requests about one's own account, and that they do not reveal who has an
address."""

import pytest

from authservice.core.messages import kinds
from tests.core.own_account.owner import EVE, confirm
from tests.support.client import PASSWORD
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

BEN = "ben@example.com"


def test_hidden_request_runs_the_same_statements_for_a_free_and_a_taken_address(
    api, proven_owner, post, configure
):
    configure(CORE={"SIGNUP_ENUMERATION": "hide"})
    api.post("signup", email=BEN, password=PASSWORD)
    post.outgoing(kinds.SIGNUP)
    proven_owner.move("first@example.com")  # creates the counters

    free = statements(lambda: proven_owner.move(EVE))
    taken = statements(lambda: proven_owner.move(BEN))

    assert free == taken


def test_availability_of_an_address_costs_at_most_two(api, requested):
    confirm(api, requested())

    for email in (EVE, BEN, "ann@example.com"):
        assert len(statements(lambda email=email: api.post("is-available", email=email))) <= 2
