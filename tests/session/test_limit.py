"""`MAX_PER_USER`: a session too many ends the oldest."""

import pytest
from django.db.models import F

from authservice.core.models import Session
from tests.people import the_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def two(sessions):
    sessions(MAX_PER_USER=2)


def opens(api, tokens):
    return api.get("me", token=tokens["access_token"]).status


def test_by_default_there_may_be_any_number(api):
    tokens = [api.sign_up(), *(api.log_in() for _ in range(5))]

    assert [opens(api, each) for each in tokens] == [200] * 6


def test_the_oldest_makes_room(api, two):
    tokens = [api.sign_up(), *(api.log_in() for _ in range(3))]

    assert [opens(api, each) for each in tokens] == [401, 401, 200, 200]


def test_one_may_be_the_limit(api, sessions):
    sessions(MAX_PER_USER=1)
    tokens = [api.sign_up(), api.log_in()]

    assert [opens(api, each) for each in tokens] == [401, 200]


def test_a_lower_limit_is_reached_at_the_next_login(api, sessions):
    tokens = [api.sign_up(), *(api.log_in() for _ in range(4))]
    sessions(MAX_PER_USER=2)

    tokens.append(api.log_in())

    assert [opens(api, each) for each in tokens] == [401] * 4 + [200] * 2


def test_everybody_has_a_number_of_their_own(api, two):
    tokens = [api.sign_up(), api.sign_up("bob@example.com"), api.log_in(), api.log_in()]

    assert [opens(api, each) for each in tokens] == [401, 200, 200, 200]


@pytest.mark.parametrize("life", ["ended_at", "idle_expires_at", "expires_at"])
def test_what_is_over_takes_no_room(api, two, life):
    tokens = [api.sign_up(), api.log_in()]
    newer = Session.objects.latest("created_at").pk
    Session.objects.filter(pk=newer).update(**{life: F("created_at")})

    tokens.append(api.log_in())

    assert [opens(api, each) for each in tokens] == [200, 401, 200]


def test_a_refresh_takes_none_either(api, two):
    tokens = [api.sign_up(), api.log_in()]
    for _ in range(3):
        refreshed = api.post("refresh", refresh_token=tokens[1]["refresh_token"]).data
        tokens[1]["refresh_token"] = refreshed["refresh_token"]

    assert [opens(api, each) for each in tokens] == [200, 200]


def test_the_end_is_told_and_the_row_says_why(api, two, told):
    api.sign_up()
    oldest = str(Session.objects.get().pk)
    for _ in range(2):
        api.log_in()

    [event] = [event for event in told if event.action == "security.session.revoked"]
    assert event.metadata == {"reason": "limit", "session": oldest}
    assert (event.user, event.client.address) == (the_user(), "127.0.0.1")
    assert Session.objects.get(pk=oldest).end_reason == "limit"


def test_a_login_that_is_refused_ends_nothing(api, two):
    tokens = [api.sign_up(), api.log_in()]

    api.post("login", email="ann@example.com", password="wrong")

    assert [opens(api, each) for each in tokens] == [200, 200]
