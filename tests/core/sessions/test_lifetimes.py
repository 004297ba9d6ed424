"""Lifetimes: sessions end after a week unused or a month in use, access tokens after minutes."""

import pytest

pytestmark = pytest.mark.django_db

REFUSED = (401, "INVALID_REFRESH_TOKEN")


def refresh(api, tokens):
    return api.post("refresh", refresh_token=tokens["refresh_token"])


def test_refresh_token_unused_for_almost_a_week_is_accepted(api, clock):
    tokens = api.sign_up()
    clock.forward(days=7, seconds=-1)

    assert refresh(api, tokens).status == 200


def test_refresh_token_unused_for_a_week_is_refused(api, clock):
    tokens = api.sign_up()
    clock.forward(days=7)

    assert refresh(api, tokens).error == REFUSED


def test_refresh_restarts_the_week_of_idle_time(api, clock):
    tokens = api.sign_up()
    clock.forward(days=6)
    tokens = refresh(api, tokens).data
    clock.forward(days=6)

    assert refresh(api, tokens).status == 200


@pytest.fixture
def nearly_a_month(api, clock):
    """The tokens of a session refreshed every five days, one second before its end."""
    tokens = api.sign_up()
    for _ in range(5):
        clock.forward(days=5)
        tokens = refresh(api, tokens).data
    clock.forward(days=5, seconds=-1)
    return tokens


def test_session_refreshed_often_is_active_for_thirty_days(api, nearly_a_month):
    assert refresh(api, nearly_a_month).status == 200


def test_session_ends_after_thirty_days_however_often_it_was_refreshed(api, clock, nearly_a_month):
    clock.forward(seconds=1)

    assert refresh(api, nearly_a_month).error == REFUSED


def test_access_token_expires_no_later_than_its_session(api, clock, nearly_a_month):
    tokens = refresh(api, nearly_a_month).data
    clock.forward(seconds=1)

    assert tokens["expires_in"] == 1
    assert api.get("me", token=tokens["access_token"]).error == (401, "TOKEN_EXPIRED")


def test_access_token_is_accepted_until_its_last_second(api, clock):
    token = api.sign_up()["access_token"]
    clock.forward(minutes=15, seconds=-1)

    assert api.get("me", token=token).status == 200


def test_access_token_expires_without_leeway(api, clock):
    token = api.sign_up()["access_token"]
    clock.forward(minutes=15)

    assert api.get("me", token=token).error == (401, "TOKEN_EXPIRED")


def test_refresh_token_reused_after_a_week_is_refused(api, clock):
    first = api.sign_up()
    refresh(api, first)
    clock.forward(days=7)

    assert refresh(api, first).error == REFUSED


@pytest.mark.parametrize(("setting", "seconds"), [("REFRESH_TOKEN_TTL", 60), ("SESSION_TTL", 60)])
def test_lifetimes_of_refresh_token_and_session_are_settings(
    api, clock, configure, setting, seconds
):
    configure(**{setting: seconds})
    tokens = api.sign_up()
    clock.forward(seconds=seconds)

    assert refresh(api, tokens).error == REFUSED


def test_lifetime_of_an_access_token_is_a_setting(api, configure):
    configure(ACCESS_TOKEN_TTL=60)

    assert api.sign_up()["expires_in"] == 60
