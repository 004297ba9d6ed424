"""A session ends when it was not used for a while, and at the latest when its time is over."""

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from authservice.core.models import Session
from authservice.kernel import databases
from tests.people import the_user

pytestmark = pytest.mark.django_db(transaction=True)

OVER = (401, "INVALID_TOKEN")


@pytest.fixture
def idle(sessions, configure):
    """Sessions idle out after an hour; access tokens would live for a day."""
    configure(ACCESS_TOKEN_TTL=86_400)
    sessions(IDLE_TTL=3600)


def me(api, tokens):
    return api.get("me", token=tokens["access_token"])


def touches(call):
    """How often the call writes a session's row."""
    with CaptureQueriesContext(connections[databases.primary()]) as captured:
        call()
    texts = [query["sql"] for query in captured.captured_queries]
    return len([text for text in texts if text.startswith("UPDATE") and "last_used_at" in text])


class TestIdle:
    def test_until_then_it_goes_on(self, api, clock, idle):
        tokens = api.sign_up()
        clock.forward(hours=1, seconds=-1)

        assert me(api, tokens).status == 200

    def test_after_it_the_access_token_is_refused(self, api, clock, idle):
        tokens = api.sign_up()
        clock.forward(hours=1)

        assert me(api, tokens).error == OVER

    def test_after_it_the_refresh_token_is_refused(self, api, clock, idle):
        tokens = api.sign_up()
        clock.forward(hours=1)

        answer = api.post("refresh", refresh_token=tokens["refresh_token"])

        assert answer.error == (401, "INVALID_REFRESH_TOKEN")

    def test_a_request_prolongs_it(self, api, clock, idle):
        tokens = api.sign_up()
        for _ in range(5):
            clock.forward(minutes=50)
            assert me(api, tokens).status == 200

    def test_a_refresh_prolongs_it(self, api, clock, idle):
        tokens = api.sign_up()
        for _ in range(5):
            clock.forward(minutes=50)
            tokens = api.post("refresh", refresh_token=tokens["refresh_token"]).data

        assert me(api, tokens).status == 200

    def test_without_a_life_of_its_own_it_is_that_of_a_refresh_token(self, api, clock, configure):
        configure(REFRESH_TOKEN_TTL=7200, ACCESS_TOKEN_TTL=86_400)
        tokens = api.sign_up()
        clock.forward(hours=2, seconds=-1)
        assert me(api, tokens).status == 200

        clock.forward(hours=2)

        assert me(api, tokens).error == OVER

    def test_the_refused_request_does_not_revive_it(self, api, clock, idle):
        tokens = api.sign_up()
        clock.forward(hours=1)
        me(api, tokens)

        assert me(api, tokens).error == OVER


class TestAbsolute:
    @pytest.fixture
    def used(self, api, clock, idle, configure):
        """The tokens of a session that was used all the time, one second before its end."""
        configure(SESSION_TTL=7200)
        tokens = api.sign_up()
        for _ in range(7):
            clock.forward(minutes=15)
            me(api, tokens)
        clock.forward(minutes=15, seconds=-1)
        return tokens

    def test_until_then_it_goes_on(self, api, used):
        assert me(api, used).status == 200

    def test_then_it_is_over_however_much_it_is_used(self, api, clock, used):
        me(api, used)
        clock.forward(seconds=1)

        refreshed = api.post("refresh", refresh_token=used["refresh_token"])

        assert me(api, used).status == 401
        assert refreshed.error == (401, "INVALID_REFRESH_TOKEN")

    def test_a_row_that_is_over_refuses_a_token_that_is_not(self, api, clock):
        tokens = api.sign_up()
        Session.objects.update(expires_at=Session.objects.get().created_at)

        assert me(api, tokens).error == OVER


class TestLastUse:
    def test_it_is_not_written_within_five_minutes(self, api, clock):
        tokens = api.sign_up()
        clock.forward(minutes=5, seconds=-1)

        assert touches(lambda: me(api, tokens)) == 0

    def test_after_five_it_is_written_once(self, api, clock):
        tokens = api.sign_up()
        clock.forward(minutes=5)

        assert [touches(lambda: me(api, tokens)) for _ in range(3)] == [1, 0, 0]

    def test_where_sessions_idle_out_soon_it_is_written_more_often(self, api, clock, sessions):
        sessions(IDLE_TTL=120)
        tokens = api.sign_up()
        clock.forward(seconds=29)
        assert touches(lambda: me(api, tokens)) == 0
        clock.forward(seconds=1)

        assert touches(lambda: me(api, tokens)) == 1

    def test_it_is_the_moment_of_the_request(self, api, clock):
        tokens = api.sign_up()
        clock.forward(minutes=7)
        me(api, tokens)

        row = Session.objects.get()
        assert (row.last_used_at - row.created_at).total_seconds() == 7 * 60
        assert (row.idle_expires_at - row.last_used_at).days == 7

    def test_a_session_that_ends_meanwhile_stays_ended(self, api, clock, monkeypatch):
        tokens = api.sign_up()
        clock.forward(minutes=7)
        before = Session.objects.get()
        end_during_the_check(monkeypatch)

        me(api, tokens)

        row = Session.objects.get()
        assert (row.ended_at is not None, row.last_used_at) == (True, before.last_used_at)

    def test_a_refusal_is_no_use(self, api, clock):
        tokens = api.sign_up()
        clock.forward(minutes=7)
        type(the_user()).objects.update(is_active=False)

        assert touches(lambda: me(api, tokens)) == 0


def end_during_the_check(monkeypatch):
    """Somebody ends all sessions between the look at the row and the writing of its use."""
    from authservice.session.stores import DatabaseStore

    def alive(self, session):
        Session.objects.update(ended_at=session.last_used_at)
        return True

    monkeypatch.setattr(DatabaseStore, "alive", alive)
