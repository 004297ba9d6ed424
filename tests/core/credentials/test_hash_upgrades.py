"""A better hash of the same password is stored at login, and no sign-in notices."""

import pytest
from django.contrib.auth.hashers import make_password

from authservice.core.credentials import passwords
from authservice.core.users import lookup
from authservice.kernel.secret import Secret
from tests import hashing
from tests.client import PASSWORD
from tests.people import make_user, the_user

pytestmark = pytest.mark.django_db

FAST = "django.contrib.auth.hashers.MD5PasswordHasher"
OLD = "tests.hashing.OldPBKDF2"


@pytest.fixture(autouse=True)
def _ann(settings):
    settings.PASSWORD_HASHERS = [OLD]
    make_user()


@pytest.fixture
def modern(settings):
    """From here on another algorithm is preferred."""

    def modern():
        settings.PASSWORD_HASHERS = [FAST, OLD]

    return modern


def test_an_old_hash_is_replaced_at_login(api, modern):
    modern()

    api.log_in()

    assert the_user().password.startswith("md5$")


def test_it_is_replaced_once(api, modern):
    modern()
    api.log_in()
    stored = the_user().password

    api.log_in()

    assert the_user().password == stored


def test_the_password_stays_the_same(api, modern):
    modern()
    api.log_in()

    assert api.post("login", email="ann@example.com", password=PASSWORD).status == 200


def test_a_wrong_password_replaces_nothing(api, modern):
    modern()

    api.post("login", email="ann@example.com", password="wrong plum tart")

    assert the_user().password.startswith("pbkdf2_sha1$")


def test_the_sign_in_that_upgrades_stands(api, modern):
    modern()

    token = api.log_in()["access_token"]

    assert api.get("me", token=token).status == 200


def test_earlier_sign_ins_go_on(api, modern):
    before = api.log_in()
    modern()

    api.log_in()

    assert api.get("me", token=before["access_token"]).status == 200
    assert api.post("refresh", refresh_token=before["refresh_token"]).status == 200


def test_sign_ins_that_an_earlier_password_made_do_not_come_back(api, modern):
    before = api.log_in()["access_token"]
    user = the_user()
    user.set_password("another plum tart 42")
    user.save()
    modern()

    api.log_in(password="another plum tart 42")

    assert api.get("me", token=before).error == (401, "INVALID_TOKEN")


def test_of_two_upgrades_at_once_the_second_keeps_what_the_first_stored(modern):
    first, second = lookup.get_person(the_user()), lookup.get_person(the_user())
    modern()
    passwords._upgrade(first, Secret(PASSWORD))

    passwords._upgrade(second, Secret(PASSWORD))

    assert the_user().password == first.user.password == second.user.password


def test_an_upgrade_never_overwrites_a_password_that_was_just_changed(modern):
    person = lookup.get_person(the_user())
    modern()
    changed = make_password("another plum tart 42")
    type(person.user).objects.update(password=changed)

    passwords._upgrade(person, Secret(PASSWORD))

    assert the_user().password == changed


def test_a_wrong_password_for_an_old_hash_makes_exactly_one_hash(api, modern):
    modern()

    with hashing.spied() as spy:
        api.post("login", email="ann@example.com", password="wrong plum tart")

    assert spy.made == ["pbkdf2_sha1"]
