"""How many SQL statements each request costs, without those that begin and end transactions."""

import pytest

from authservice.kernel import modules
from authservice.twofactor.verify_login import second_factor
from tests.oauth.browsing import profile
from tests.oauth.in_process import office
from tests.support.statements import ALONG, UNLOCKED, statements

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("ungated")]


@pytest.fixture
def cost(browser):
    """`cost(profile)` counts the statements of a callback."""

    def cost(who=None):
        address = office.approve(browser.start(), who or profile())
        return len(statements(lambda: browser.come_back(address)))

    return cost


def test_start_costs_one(browser):
    assert len(statements(browser.start)) == 1


def test_login_of_a_returning_user_costs_nine(browser, cost):
    browser.sign_in()

    assert cost() == 9 - ALONG - UNLOCKED


def test_login_of_a_returning_user_costs_one_more_to_store_tokens(browser, oauth, cost):
    oauth(STORE_PROVIDER_TOKENS=True)
    browser.sign_in()

    assert cost() == 10 - ALONG - UNLOCKED


def test_login_of_a_returning_user_costs_one_more_with_second_factors(browser, cost):
    browser.sign_in()

    with modules.plugged("second_factor", second_factor):
        assert cost() == 10 - ALONG - UNLOCKED


def test_login_of_a_new_user_costs_twelve(cost):
    assert cost() == 12 - 2 * ALONG


def test_login_that_links_an_account_costs_thirteen(ann, cost):
    assert cost() == 13 - 2 * ALONG - UNLOCKED


def test_refused_state_costs_one(browser):
    assert len(statements(lambda: browser.get("oauth/acme/callback?state=x&code=y"))) == 1


def test_list_of_linked_providers_costs_two(browser, api):
    token = browser.sign_in().data["access_token"]

    assert len(statements(lambda: api.get("oauth/linked", token=token))) == 2
