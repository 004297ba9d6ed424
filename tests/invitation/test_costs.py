"""How many SQL statements each request costs, without those that begin and end transactions."""

import pytest
from django.apps import apps

from tests.support.statements import ALONG, FIRST, UNLOCKED, statements

pytestmark = pytest.mark.django_db
# A login that is not by a password asks whether the user has a passkey as second factor.
PASSKEYS = 1 if apps.is_installed("authservice.passkeys") else 0


def cost(call):
    return len(statements(call))


@pytest.fixture
def sender(invites, bob):
    """Every counter of the sender has its row."""
    invites.accept(invites.mailed())
    return invites


@pytest.fixture
def warm(sender, configure):
    """The same; another invitation of Bob on this day is no subject of these tests."""
    configure(THROTTLE={"ENABLED": False})
    return sender


def test_invitation_costs_eleven(sender):
    assert cost(lambda: sender.send("carol@example.com")) == 11 + 3 * FIRST


def test_accept_with_an_account_costs_at_most_ten(warm):
    token = warm.mailed()

    assert cost(lambda: warm.accept(token)) == 10 + PASSKEYS - 2 * ALONG - UNLOCKED


def test_accept_in_a_session_costs_eight_and_the_rotation_one_more(warm, bob):
    bearer, refresh_token = bob["access_token"], bob["refresh_token"]
    kept, sent = warm.mailed(), warm.mailed(purpose="other")

    assert cost(lambda: warm.accept(kept, bearer=bearer)) == 8 - UNLOCKED
    assert (
        cost(lambda: warm.accept(sent, bearer=bearer, refresh_token=refresh_token)) == 9 - UNLOCKED
    )


def test_accept_as_a_new_user_costs_at_most_twelve(warm):
    token = warm.mailed("carol@example.com")

    assert cost(lambda: warm.accept_as_new(token)) == 12 + PASSKEYS - 2 * ALONG


def test_unknown_token_costs_one(warm):
    assert cost(lambda: warm.accept("x" * 43)) == 1


def test_decline_costs_four(warm):
    token = warm.mailed()

    assert cost(lambda: warm.decline(token)) == 4
