"""Who may not come in learns nothing: one answer, and exactly one hash, for every reason."""

import pytest

from tests import hashing
from tests.client import PASSWORD
from tests.people import deactivate, make_user

pytestmark = pytest.mark.django_db

STRANGERS = {
    "an unknown address": {"email": "nobody@example.com"},
    "an unknown username": {"username": "nobody"},
    "a wrong password": {"email": "ann@example.com"},
    "no password": {"email": "ben@example.com"},
    "an inactive user": {"email": "cid@example.com"},
    "an address that cannot be": {"email": "nobody"},
}
HASHERS = {"a fast hasher": hashing.FAST, "Argon2id": hashing.ARGON}


@pytest.fixture(params=HASHERS, autouse=True)
def _people(request, settings):
    settings.PASSWORD_HASHERS = HASHERS[request.param]
    make_user("ann@example.com")
    make_user("ben@example.com", password=None)
    make_user("cid@example.com")
    deactivate("cid@example.com")


def guess(api, name):
    return api.post("login", password="wrong plum tart", **STRANGERS[name])


def told(answer):
    headers = {k: v for k, v in answer.response.items() if k != "X-Request-ID"}
    return answer.status, answer.response.content, headers, answer.response.cookies.output()


@pytest.mark.parametrize("name", STRANGERS)
def test_the_answer_is_the_same_to_the_byte(api, name):
    assert told(guess(api, name)) == told(guess(api, "a wrong password"))


@pytest.mark.parametrize("name", STRANGERS)
def test_exactly_one_hash_is_made(api, name):
    with hashing.spied() as spy:
        guess(api, name)

    assert len(spy.made) == 1


@pytest.mark.parametrize("name", STRANGERS)
def test_the_hash_is_of_the_preferred_algorithm(api, name):
    with hashing.spied() as spy:
        guess(api, "a wrong password")
        guess(api, name)

    assert len(set(spy.made)) == 1


def test_a_login_that_succeeds_makes_exactly_one_hash(api):
    with hashing.spied() as spy:
        api.log_in("ann@example.com")

    assert len(spy.made) == 1


def test_an_inactive_user_with_the_right_password_makes_exactly_one_hash(api):
    with hashing.spied() as spy:
        api.post("login", email="cid@example.com", password=PASSWORD)

    assert len(spy.made) == 1


def test_a_try_that_is_not_judged_makes_none(api):
    for _ in range(10):
        guess(api, "a wrong password")

    with hashing.spied() as spy:
        guess(api, "a wrong password")

    assert spy.made == []


def test_a_password_that_is_too_long_makes_none(api):
    with hashing.spied() as spy:
        api.post("login", email="ann@example.com", password="x" * 4097)

    assert spy.made == []


def test_a_signup_makes_exactly_one_hash(api):
    with hashing.spied() as spy:
        api.sign_up("dot@example.com")

    assert len(spy.made) == 1


def test_the_hash_in_vain_can_be_that_of_an_older_algorithm(api, settings, configure):
    settings.PASSWORD_HASHERS = [
        *settings.PASSWORD_HASHERS,
        "django.contrib.auth.hashers.ScryptPasswordHasher",
    ]
    configure(CORE={"DUMMY_HASHER": "scrypt"})

    with hashing.spied() as spy:
        guess(api, "an unknown address")
        guess(api, "no password")

    assert spy.made == ["scrypt", "scrypt"]
