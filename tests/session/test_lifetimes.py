"""A session ends after its idle time, and at the latest after its maximum lifetime."""

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from authservice.core.models import Session
from authservice.kernel import databases
from tests.support.people import the_user

pytestmark = pytest.mark.django_db(transaction=True)

EXPIRED = (401, "INVALID_TOKEN")


@pytest.fixture
def idle(sessions, configure):
    """Idle sessions expire after an hour; access tokens would be valid for a day."""
    configure(ACCESS_TOKEN_TTL=86_400)
    sessions(IDLE_TTL=3600)


def me(api, tokens):
    return api.get("me", token=tokens["access_token"])


def touches(call):
    """The number of updates of a session's last use during the call."""
    with CaptureQueriesContext(connections[databases.primary()]) as captured:
        call()
    texts = [query["sql"] for query in captured.captured_queries]
    return len([text for text in texts if text.startswith("UPDATE") and "last_used_at" in text])


class TestIdle:
    def test_idle_session_is_active_before_its_time(self, api, clock, idle):
        tokens = api.sign_up()
        clock.forward(hours=1, seconds=-1)

        assert me(api, tokens).status == 200

    def test_idle_session_refuses_the_access_token_after_its_time(self, api, clock, idle):
        tokens = api.sign_up()
        clock.forward(hours=1)

        assert me(api, tokens).error == EXPIRED

    def test_idle_session_refuses_the_refresh_token_after_its_time(self, api, clock, idle):
        tokens = api.sign_up()
        clock.forward(hours=1)

        answer = api.post("refresh", refresh_token=tokens["refresh_token"])

        assert answer.error == (401, "INVALID_REFRESH_TOKEN")

    def test_idle_time_is_restarted_by_a_request(self, api, clock, idle):
        tokens = api.sign_up()
        for _ in range(5):
            clock.forward(minutes=50)
            assert me(api, tokens).status == 200

    def test_idle_time_is_restarted_by_a_refresh(self, api, clock, idle):
        tokens = api.sign_up()
        for _ in range(5):
            clock.forward(minutes=50)
            tokens = api.post("refresh", refresh_token=tokens["refresh_token"]).data

        assert me(api, tokens).status == 200

    def test_idle_time_is_that_of_a_refresh_token_by_default(self, api, clock, configure):
        configure(REFRESH_TOKEN_TTL=7200, ACCESS_TOKEN_TTL=86_400)
        tokens = api.sign_up()
        clock.forward(hours=2, seconds=-1)
        assert me(api, tokens).status == 200

        clock.forward(hours=2)

        assert me(api, tokens).error == EXPIRED

    def test_idle_session_is_not_reactivated_by_a_refused_request(self, api, clock, idle):
        tokens = api.sign_up()
        clock.forward(hours=1)
        me(api, tokens)

        assert me(api, tokens).error == EXPIRED


class TestAbsolute:
    @pytest.fixture
    def used(self, api, clock, idle, configure):
        """The tokens of a session in constant use, one second before its end."""
        configure(SESSION_TTL=7200)
        tokens = api.sign_up()
        for _ in range(7):
            clock.forward(minutes=15)
            me(api, tokens)
        clock.forward(minutes=15, seconds=-1)
        return tokens

    def test_used_session_is_active_before_its_maximum_lifetime(self, api, used):
        assert me(api, used).status == 200

    def test_used_session_ends_after_its_maximum_lifetime(self, api, clock, used):
        me(api, used)
        clock.forward(seconds=1)

        refreshed = api.post("refresh", refresh_token=used["refresh_token"])

        assert me(api, used).status == 401
        assert refreshed.error == (401, "INVALID_REFRESH_TOKEN")

    def test_expired_session_refuses_an_unexpired_access_token(self, api, clock):
        tokens = api.sign_up()
        Session.objects.update(expires_at=Session.objects.get().created_at)

        assert me(api, tokens).error == EXPIRED


class TestLastUse:
    def test_last_use_is_not_written_within_five_minutes(self, api, clock):
        tokens = api.sign_up()
        clock.forward(minutes=5, seconds=-1)

        assert touches(lambda: me(api, tokens)) == 0

    def test_last_use_is_written_once_after_five_minutes(self, api, clock):
        tokens = api.sign_up()
        clock.forward(minutes=5)

        assert [touches(lambda: me(api, tokens)) for _ in range(3)] == [1, 0, 0]

    def test_last_use_is_written_more_often_with_a_short_idle_time(self, api, clock, sessions):
        sessions(IDLE_TTL=120)
        tokens = api.sign_up()
        clock.forward(seconds=29)
        assert touches(lambda: me(api, tokens)) == 0
        clock.forward(seconds=1)

        assert touches(lambda: me(api, tokens)) == 1

    def test_last_use_is_the_time_of_the_request(self, api, clock):
        tokens = api.sign_up()
        clock.forward(minutes=7)
        me(api, tokens)

        row = Session.objects.get()
        assert int((row.last_used_at - row.created_at).total_seconds()) == 7 * 60
        assert (row.idle_expires_at - row.last_used_at).days == 7

    def test_last_use_is_not_written_if_the_session_ends_meanwhile(self, api, clock, monkeypatch):
        tokens = api.sign_up()
        clock.forward(minutes=7)
        before = Session.objects.get()
        end_during_the_check(monkeypatch)

        me(api, tokens)

        row = Session.objects.get()
        assert (row.ended_at is not None, row.last_used_at) == (True, before.last_used_at)

    def test_last_use_is_not_written_by_a_refused_request(self, api, clock):
        tokens = api.sign_up()
        clock.forward(minutes=7)
        type(the_user()).objects.update(is_active=False)

        assert touches(lambda: me(api, tokens)) == 0


def end_during_the_check(monkeypatch):
    """All sessions end between the read of the row and the update of its last use."""
    from authservice.session.stores import DatabaseStore

    def alive(self, session):
        Session.objects.update(ended_at=session.last_used_at)
        return True

    monkeypatch.setattr(DatabaseStore, "alive", alive)
