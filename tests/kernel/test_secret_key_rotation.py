"""After a new SECRET_KEY, tokens of the old key stay valid while it is among the fallbacks."""

import pytest

from tests.support.people import the_user

pytestmark = pytest.mark.django_db

NEW = "another secret of the tests, long enough to be a key"


@pytest.fixture
def rotate(settings):
    """Set a new key, and keep the old one as a fallback or not."""

    def rotate(*, keep):
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY] if keep else []
        settings.SECRET_KEY = NEW

    return rotate


def test_access_token_stays_valid_while_its_key_is_a_fallback(api, rotate):
    token = api.sign_up()["access_token"]
    rotate(keep=True)

    assert api.get("me", token=token).status == 200


def test_refresh_token_stays_valid_while_its_key_is_a_fallback(api, rotate):
    token = api.sign_up()["refresh_token"]
    rotate(keep=True)

    assert api.post("refresh", refresh_token=token).status == 200


def test_tokens_issued_after_a_key_rotation_need_no_fallback(api, rotate, settings):
    token = api.sign_up()["refresh_token"]
    rotate(keep=True)
    fresh = api.log_in()
    settings.SECRET_KEY_FALLBACKS = []

    assert api.get("me", token=fresh["access_token"]).status == 200
    assert api.post("refresh", refresh_token=fresh["refresh_token"]).status == 200
    assert api.post("refresh", refresh_token=token).error == (401, "INVALID_REFRESH_TOKEN")


def test_access_token_is_refused_after_its_key_is_removed(api, rotate):
    token = api.sign_up()["access_token"]
    rotate(keep=False)

    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")


def test_refresh_token_is_refused_after_its_key_is_removed(api, rotate):
    token = api.sign_up()["refresh_token"]
    rotate(keep=False)

    assert api.post("refresh", refresh_token=token).error == (401, "INVALID_REFRESH_TOKEN")


def test_refresh_token_reuse_is_detected_after_a_key_rotation(api, rotate):
    first = api.sign_up()
    second = api.post("refresh", refresh_token=first["refresh_token"]).data
    third = api.post("refresh", refresh_token=second["refresh_token"]).data
    rotate(keep=True)

    api.post("refresh", refresh_token=first["refresh_token"])

    assert api.post("refresh", refresh_token=third["refresh_token"]).status == 401


def test_session_refreshed_under_the_new_key_stays_valid_without_the_old_key(api, rotate, settings):
    token = api.sign_up()["refresh_token"]
    rotate(keep=True)
    fresh = api.post("refresh", refresh_token=token).data
    settings.SECRET_KEY_FALLBACKS = []

    assert api.get("me", token=fresh["access_token"]).status == 200


def test_session_of_the_old_key_stays_valid_after_a_hash_upgrade(api, rotate, settings):
    token = api.sign_up()["access_token"]
    rotate(keep=True)
    settings.PASSWORD_HASHERS = list(reversed(settings.PASSWORD_HASHERS))
    before = the_user().password

    api.log_in()

    assert the_user().password != before
    assert api.get("me", token=token).status == 200


def test_session_of_the_old_key_ends_with_a_changed_password(api, rotate):
    token = api.sign_up()["access_token"]
    rotate(keep=True)
    user = the_user()
    user.set_password("another plum tart 42")
    user.save()

    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")
