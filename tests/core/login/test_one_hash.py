"""A refused login reveals no reason: the same response and exactly one hash in each case."""

import pytest

from tests.support import hashing
from tests.support.client import PASSWORD
from tests.support.people import deactivate, make_user

pytestmark = pytest.mark.django_db

REFUSED = {
    "an unknown address": {"email": "nobody@example.com"},
    "an unknown username": {"username": "nobody"},
    "a wrong password": {"email": "ann@example.com"},
    "no password": {"email": "ben@example.com"},
    "an inactive user": {"email": "cid@example.com"},
    "an invalid address": {"email": "nobody"},
}
HASHERS = {"a fast hasher": hashing.FAST, "Argon2id": hashing.ARGON}


@pytest.fixture(params=HASHERS, autouse=True)
def _users(request, settings):
    settings.PASSWORD_HASHERS = HASHERS[request.param]
    make_user("ann@example.com")
    make_user("ben@example.com", password=None)
    make_user("cid@example.com")
    deactivate("cid@example.com")


def attempt(api, name):
    return api.post("login", password="wrong plum tart", **REFUSED[name])


def visible(answer):
    headers = {k: v for k, v in answer.response.items() if k != "X-Request-ID"}
    return answer.status, answer.response.content, headers, answer.response.cookies.output()


@pytest.mark.parametrize("name", REFUSED)
def test_refused_login_answers_byte_for_byte_alike(api, name):
    assert visible(attempt(api, name)) == visible(attempt(api, "a wrong password"))


@pytest.mark.parametrize("name", REFUSED)
def test_refused_login_makes_exactly_one_hash(api, name):
    with hashing.spied() as spy:
        attempt(api, name)

    assert len(spy.made) == 1


@pytest.mark.parametrize("name", REFUSED)
def test_refused_login_hashes_with_the_preferred_algorithm(api, name):
    with hashing.spied() as spy:
        attempt(api, "a wrong password")
        attempt(api, name)

    assert len(set(spy.made)) == 1


def test_successful_login_makes_exactly_one_hash(api):
    with hashing.spied() as spy:
        api.log_in("ann@example.com")

    assert len(spy.made) == 1


def test_login_of_an_inactive_user_with_the_right_password_makes_one_hash(api):
    with hashing.spied() as spy:
        api.post("login", email="cid@example.com", password=PASSWORD)

    assert len(spy.made) == 1


def test_login_during_a_lockout_makes_no_hash(api):
    for _ in range(10):
        attempt(api, "a wrong password")

    with hashing.spied() as spy:
        attempt(api, "a wrong password")

    assert spy.made == []


def test_login_with_a_password_that_is_too_long_makes_no_hash(api):
    with hashing.spied() as spy:
        api.post("login", email="ann@example.com", password="x" * 4097)

    assert spy.made == []


def test_signup_makes_exactly_one_hash(api):
    with hashing.spied() as spy:
        api.sign_up("dot@example.com")

    assert len(spy.made) == 1


def test_dummy_hash_can_use_an_older_algorithm(api, settings, configure):
    settings.PASSWORD_HASHERS = [
        *settings.PASSWORD_HASHERS,
        "django.contrib.auth.hashers.ScryptPasswordHasher",
    ]
    configure(CORE={"DUMMY_HASHER": "scrypt"})

    with hashing.spied() as spy:
        attempt(api, "an unknown address")
        attempt(api, "no password")

    assert spy.made == ["scrypt", "scrypt"]
