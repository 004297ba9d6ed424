"""Two requests that change the same rows of a user lock them in one order and cannot deadlock."""

from functools import partial

import pytest

from authservice.core.credentials import passwords
from authservice.twofactor import verify_login
from tests.races.crowd import synchronise
from tests.races.test_second_factors import temp_tokens
from tests.support.client import PASSWORD
from tests.twofactor.people import ANN, Person

OLD, NEW = "tests.races.hashers.Counting", "django.contrib.auth.hashers.MD5PasswordHasher"


@pytest.fixture(autouse=True)
def _still(clock):
    """Freezes the time, so that TOTP codes change only when a test forwards it."""


@pytest.fixture
def outdate(settings):
    """Call it to make the existing hashes outdated, so that a login upgrades them."""
    settings.PASSWORD_HASHERS = [OLD, NEW]
    return lambda: setattr(settings, "PASSWORD_HASHERS", [NEW, OLD])


@pytest.fixture
def synchronise_locks(monkeypatch):
    """Call it before a race: then the login has locked the user for its hash upgrade when the
    second step is about to lock the user."""
    return lambda: synchronise(monkeypatch, (passwords, "rebind"), (verify_login, "_enter"))


def test_hash_upgrade_and_second_step_do_not_deadlock(
    crowd, api, outdate, clock, synchronise_locks
):
    ann = Person(api).sign_up().enrol()
    clock.forward(seconds=30)
    temp_token, code = temp_tokens(ann)[0], ann.code()
    outdate()
    synchronise_locks()

    login, passed = crowd.race([log_in(api), partial(ann.verify_login, code, temp_token)])

    # The challenge was bound to the old hash, so it was refused without using up the code.
    assert (login.status, passed.error) == (200, (401, "INVALID_TOKEN"))
    again = ann.verify_login(code, temp_token)
    assert again.status == 200
    assert api.get("me", token=again.data["access_token"]).status == 200


def test_hash_upgrade_and_required_enrolment_do_not_deadlock(
    crowd, api, outdate, configure, synchronise_locks
):
    ann = Person(api).sign_up()
    configure(TWOFACTOR={"REQUIRED": "everybody"}, THROTTLE={"ENABLED": False})
    temp_token = ann.temp_token()
    ann.set_up()
    outdate()
    synchronise_locks()

    login, passed = crowd.race([log_in(api), partial(ann.verify_login, ann.code(), temp_token)])

    assert login.status == 200
    assert passed.status in (200, 401)


def log_in(api):
    return partial(api.post, "login", email=ANN, password=PASSWORD)
