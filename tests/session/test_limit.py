"""`MAX_PER_USER`: a login beyond the limit ends the oldest session."""

import pytest
from django.db.models import F

from authservice.core.models import Session
from tests.support.people import the_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def limit_of_two(sessions):
    """Two active sessions for each user."""
    sessions(MAX_PER_USER=2)


def status(api, tokens):
    return api.get("me", token=tokens["access_token"]).status


def test_sessions_are_unlimited_by_default(api):
    tokens = [api.sign_up(), *(api.log_in() for _ in range(5))]

    assert [status(api, each) for each in tokens] == [200] * 6


def test_session_limit_ends_the_oldest_session(api, limit_of_two):
    tokens = [api.sign_up(), *(api.log_in() for _ in range(3))]

    assert [status(api, each) for each in tokens] == [401, 401, 200, 200]


def test_session_limit_may_be_one(api, sessions):
    sessions(MAX_PER_USER=1)
    tokens = [api.sign_up(), api.log_in()]

    assert [status(api, each) for each in tokens] == [401, 200]


def test_session_limit_when_lowered_is_applied_at_the_next_login(api, sessions):
    tokens = [api.sign_up(), *(api.log_in() for _ in range(4))]
    sessions(MAX_PER_USER=2)

    tokens.append(api.log_in())

    assert [status(api, each) for each in tokens] == [401] * 4 + [200] * 2


def test_session_limit_applies_to_each_user_separately(api, limit_of_two):
    tokens = [api.sign_up(), api.sign_up("bob@example.com"), api.log_in(), api.log_in()]

    assert [status(api, each) for each in tokens] == [401, 200, 200, 200]


@pytest.mark.parametrize("field", ["ended_at", "idle_expires_at", "expires_at"])
def test_session_limit_does_not_count_ended_or_expired_sessions(api, limit_of_two, field):
    tokens = [api.sign_up(), api.log_in()]
    newer = Session.objects.latest("created_at").pk
    Session.objects.filter(pk=newer).update(**{field: F("created_at")})

    tokens.append(api.log_in())

    assert [status(api, each) for each in tokens] == [200, 401, 200]


def test_session_limit_does_not_count_refreshes(api, limit_of_two):
    tokens = [api.sign_up(), api.log_in()]
    for _ in range(3):
        refreshed = api.post("refresh", refresh_token=tokens[1]["refresh_token"]).data
        tokens[1]["refresh_token"] = refreshed["refresh_token"]

    assert [status(api, each) for each in tokens] == [200, 200]


def test_session_limit_records_the_end_and_its_reason(api, limit_of_two, events):
    api.sign_up()
    oldest = str(Session.objects.get().pk)
    for _ in range(2):
        api.log_in()

    [event] = [event for event in events if event.action == "security.session.revoked"]
    assert event.metadata == {"reason": "limit", "session": oldest}
    assert (event.user, event.client.address) == (the_user(), "127.0.0.1")
    assert Session.objects.get(pk=oldest).end_reason == "limit"


def test_session_limit_is_not_applied_by_a_refused_login(api, limit_of_two):
    tokens = [api.sign_up(), api.log_in()]

    api.post("login", email="ann@example.com", password="wrong")

    assert [status(api, each) for each in tokens] == [200, 200]
