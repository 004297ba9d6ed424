"""How many SQL statements each request costs, beginnings and ends of transactions not counted."""

import pytest

from tests.magiclink.magic import ANN, HTML
from tests.recovery.flows import wrong
from tests.recovery.statements import ALONG, FIRST, statements

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("ungated")]


def cost(call):
    return len(statements(call))


def test_asking_costs_its_three_counters(magic, ann):
    magic.ask()

    assert cost(magic.ask) == 3


def test_where_nothing_is_counted_asking_costs_nothing(magic, ann, no_floods):
    assert cost(magic.ask) == 0


def test_the_worker_asks_five_times(magic, ann):
    magic.ask()

    assert cost(magic.letter) == 5


def test_a_link_costs_at_most_eight(magic, ann):
    pair = magic.mailed()

    assert cost(lambda: magic.follow(pair.token)) == 8 - ALONG


def test_a_code_costs_at_most_ten(magic, ann):
    pair = magic.mailed()

    assert cost(lambda: magic.type(pair.code)) == 10 - ALONG + FIRST


def test_the_first_proof_of_somebody_new_costs_at_most_two_more(magic, magiclink):
    magiclink(AUTO_REGISTER=True)
    pair = magic.mailed()

    assert cost(lambda: magic.follow(pair.token)) == 10 - ALONG


def test_taking_unproven_access_away_costs_at_most_six_more(magic, api):
    api.sign_up()
    pair = magic.mailed()

    assert cost(lambda: magic.follow(pair.token)) == 16 - ALONG


def test_a_token_beside_it_costs_at_most_one_more(magic, ann):
    pair = magic.mailed()
    bearer = f"Bearer {ann['access_token']}"

    assert cost(lambda: magic.follow(pair.token, Authorization=bearer)) == 9 - ALONG


def test_a_browser_that_asked_costs_at_most_two_more(magic, ann, magiclink):
    magiclink(CONFIRM="auto")
    kept = magic.ask().response.cookies["authservice_magiclink"].value
    pair = magic.mailed()
    cookie = f"authservice_magiclink={kept}"

    assert cost(lambda: magic.follow(pair.token, **HTML, Cookie=cookie)) == 10 - ALONG


def test_a_link_that_is_none_costs_two(magic, ann):
    assert cost(lambda: magic.follow("A" * 43)) == 2


@pytest.mark.parametrize("email", [ANN, "nobody@example.com"])
def test_a_wrong_code_costs_four_whoever_it_is_for(magic, ann, email):
    code = wrong(magic.mailed().code)

    assert cost(lambda: magic.type(code, email)) == 4 + FIRST
