"""A better hash of the same password is stored at login, without ending any session."""

import pytest
from django.contrib.auth.hashers import make_password

from authservice.core.credentials import passwords
from authservice.core.users import lookup
from authservice.kernel.secret import Secret
from tests.support import hashing
from tests.support.client import PASSWORD
from tests.support.people import make_user, the_user

pytestmark = pytest.mark.django_db

FAST = "django.contrib.auth.hashers.MD5PasswordHasher"
OLD = "tests.support.hashing.OldPBKDF2"


@pytest.fixture(autouse=True)
def _ann(settings):
    settings.PASSWORD_HASHERS = [OLD]
    make_user()


@pytest.fixture
def modern(settings):
    """Returns a function that makes another algorithm the preferred one."""

    def modern():
        settings.PASSWORD_HASHERS = [FAST, OLD]

    return modern


def test_old_hash_is_replaced_at_login(api, modern):
    modern()

    api.log_in()

    assert the_user().password.startswith("md5$")


def test_old_hash_is_replaced_only_once(api, modern):
    modern()
    api.log_in()
    stored = the_user().password

    api.log_in()

    assert the_user().password == stored


def test_password_logs_in_after_a_hash_upgrade(api, modern):
    modern()
    api.log_in()

    assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200


def test_wrong_password_does_not_replace_an_old_hash(api, modern):
    modern()

    api.post("login", email="ann@example.com", password="wrong plum tart")

    assert the_user().password.startswith("pbkdf2_sha1$")


def test_session_of_the_login_that_upgrades_the_hash_is_active(api, modern):
    modern()

    token = api.log_in()["access_token"]

    assert api.get("me", token=token).status == 200


def test_earlier_sessions_stay_active_after_a_hash_upgrade(api, modern):
    before = api.log_in()
    modern()

    api.log_in()

    assert api.get("me", token=before["access_token"]).status == 200
    assert api.post("refresh", refresh_token=before["refresh_token"]).status == 200


def test_sessions_of_an_earlier_password_stay_ended_after_a_hash_upgrade(api, modern):
    before = api.log_in()["access_token"]
    user = the_user()
    user.set_password("another plum tart 42")
    user.save()
    modern()

    api.log_in(password="another plum tart 42")

    assert api.get("me", token=before).error == (401, "INVALID_TOKEN")


def test_second_of_two_concurrent_hash_upgrades_keeps_the_hash_of_the_first(modern):
    first, second = lookup.get_person(the_user()), lookup.get_person(the_user())
    modern()
    passwords._upgrade(first, Secret(PASSWORD))

    passwords._upgrade(second, Secret(PASSWORD))

    assert the_user().password == first.user.password == second.user.password


def test_hash_upgrade_does_not_overwrite_a_password_changed_meanwhile(modern):
    person = lookup.get_person(the_user())
    modern()
    changed = make_password("another plum tart 42")
    type(person.user).objects.update(password=changed)

    passwords._upgrade(person, Secret(PASSWORD))

    assert the_user().password == changed


def test_wrong_password_for_an_old_hash_makes_exactly_one_hash(api, modern):
    modern()

    with hashing.spied() as spy:
        api.post("login", email="ann@example.com", password="wrong plum tart")

    assert spy.made == ["pbkdf2_sha1"]
