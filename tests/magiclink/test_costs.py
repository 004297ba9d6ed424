"""How many SQL statements each request costs, without those that begin and end transactions."""

import pytest

from tests.magiclink.magic import ANN, HTML
from tests.support.flows import wrong
from tests.support.statements import ALONG, FIRST, UNLOCKED, statements

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("ungated")]


def cost(call):
    return len(statements(call))


def test_request_of_a_link_costs_three(magic, ann):
    magic.ask()

    assert cost(magic.ask) == 3


def test_request_of_a_link_without_rate_limits_costs_nothing(magic, ann, no_floods):
    assert cost(magic.ask) == 0


def test_worker_costs_five(magic, ann):
    magic.ask()

    assert cost(magic.message) == 5 - UNLOCKED


def test_login_by_link_costs_at_most_eight(magic, ann):
    pair = magic.mailed()

    assert cost(lambda: magic.follow(pair.token)) == 8 - 2 * ALONG - UNLOCKED


def test_login_by_code_costs_at_most_ten(magic, ann):
    pair = magic.mailed()

    assert cost(lambda: magic.type(pair.code)) == 10 - 2 * ALONG - UNLOCKED + FIRST


def test_first_login_of_a_new_user_costs_at_most_three_more(magic, magiclink):
    """One of them looks for sessions from before the first proof of the address."""
    magiclink(AUTO_REGISTER=True)
    pair = magic.mailed()

    assert cost(lambda: magic.follow(pair.token)) == 11 - 2 * ALONG - UNLOCKED


def test_removing_access_before_first_verification_costs_at_most_six_more(magic, api):
    api.sign_up()
    pair = magic.mailed()

    assert cost(lambda: magic.follow(pair.token)) == 16 - 2 * ALONG - UNLOCKED


def test_login_beside_an_access_token_costs_at_most_one_more(magic, ann):
    pair = magic.mailed()
    bearer = f"Bearer {ann['access_token']}"

    assert cost(lambda: magic.follow(pair.token, Authorization=bearer)) == 9 - 2 * ALONG - UNLOCKED


def test_login_of_the_browser_that_requested_costs_at_most_two_more(magic, ann, magiclink):
    magiclink(CONFIRM="auto")
    kept = magic.ask().response.cookies["authservice_magiclink"].value
    pair = magic.mailed()
    cookie = f"authservice_magiclink={kept}"

    assert (
        cost(lambda: magic.follow(pair.token, **HTML, Cookie=cookie)) == 10 - 2 * ALONG - UNLOCKED
    )


def test_invalid_link_costs_two(magic, ann):
    assert cost(lambda: magic.follow("A" * 43)) == 2


@pytest.mark.parametrize("email", [ANN, "nobody@example.com"])
def test_wrong_code_costs_four_for_every_address(magic, ann, email):
    code = wrong(magic.mailed().code)

    assert cost(lambda: magic.type(code, email)) == 4 + FIRST
