"""A new SECRET_KEY: what the old one made lives on while it is among the fallbacks."""

import pytest

from tests.people import the_user

pytestmark = pytest.mark.django_db

NEW = "another secret of the tests, long enough to be a key"


@pytest.fixture
def rotate(settings):
    """Put a new key in front, keeping the old ones or not."""

    def rotate(*, keep):
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY] if keep else []
        settings.SECRET_KEY = NEW

    return rotate


def test_an_access_token_lives_on(api, rotate):
    token = api.sign_up()["access_token"]
    rotate(keep=True)

    assert api.get("me", token=token).status == 200


def test_a_refresh_token_lives_on(api, rotate):
    token = api.sign_up()["refresh_token"]
    rotate(keep=True)

    assert api.post("refresh", refresh_token=token).status == 200


def test_what_is_made_from_then_on_needs_no_fallback(api, rotate, settings):
    token = api.sign_up()["refresh_token"]
    rotate(keep=True)
    fresh = api.log_in()
    settings.SECRET_KEY_FALLBACKS = []

    assert api.get("me", token=fresh["access_token"]).status == 200
    assert api.post("refresh", refresh_token=fresh["refresh_token"]).status == 200
    assert api.post("refresh", refresh_token=token).error == (401, "INVALID_REFRESH_TOKEN")


def test_once_the_fallback_is_dropped_an_access_token_is_dead(api, rotate):
    token = api.sign_up()["access_token"]
    rotate(keep=False)

    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")


def test_once_the_fallback_is_dropped_a_refresh_token_is_dead(api, rotate):
    token = api.sign_up()["refresh_token"]
    rotate(keep=False)

    assert api.post("refresh", refresh_token=token).error == (401, "INVALID_REFRESH_TOKEN")


def test_theft_is_still_theft(api, rotate):
    first = api.sign_up()
    second = api.post("refresh", refresh_token=first["refresh_token"]).data
    third = api.post("refresh", refresh_token=second["refresh_token"]).data
    rotate(keep=True)

    api.post("refresh", refresh_token=first["refresh_token"])

    assert api.post("refresh", refresh_token=third["refresh_token"]).status == 401


def test_a_sign_in_refreshed_under_the_new_key_outlives_the_old_one(api, rotate, settings):
    token = api.sign_up()["refresh_token"]
    rotate(keep=True)
    fresh = api.post("refresh", refresh_token=token).data
    settings.SECRET_KEY_FALLBACKS = []

    assert api.get("me", token=fresh["access_token"]).status == 200


def test_sign_in_made_under_the_old_key_survives_a_better_hash(api, rotate, settings):
    token = api.sign_up()["access_token"]
    rotate(keep=True)
    settings.PASSWORD_HASHERS = list(reversed(settings.PASSWORD_HASHERS))
    before = the_user().password

    api.log_in()

    assert the_user().password != before
    assert api.get("me", token=token).status == 200


def test_a_password_changed_meanwhile_still_ends_the_sign_in(api, rotate):
    token = api.sign_up()["access_token"]
    rotate(keep=True)
    user = the_user()
    user.set_password("another plum tart 42")
    user.save()

    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")
