"""Two deeds that touch the same rows of one person wait for each other in turn, never crosswise."""

from functools import partial

import pytest

from authservice.core.credentials import passwords
from tests.client import PASSWORD
from tests.races.crowd import crossing
from tests.races.test_second_factors import temp_tokens
from tests.twofactor.people import ANN, Person

OLD, NEW = "tests.races.hashers.Counting", "django.contrib.auth.hashers.MD5PasswordHasher"


@pytest.fixture(autouse=True)
def _still(clock):
    """Codes change when a test says so."""


@pytest.fixture
def outdate(settings):
    """Hashes made before it is called are worse than those that a login stores after it."""
    settings.PASSWORD_HASHERS = [OLD, NEW]
    return lambda: setattr(settings, "PASSWORD_HASHERS", [NEW, OLD])


@pytest.fixture
def cross(monkeypatch):
    """From here on a login that upgrades its hash has locked the user when the second step is about
    to."""
    return lambda: crossing(monkeypatch, (passwords, "rebind"), (passwords, "lock_users"))


def test_a_better_hash_and_a_second_step(crowd, api, outdate, clock, cross):
    ann = Person(api).sign_up().enrol()
    clock.forward(seconds=30)
    temp_token, code = temp_tokens(ann)[0], ann.code()
    outdate()
    cross()

    entered, passed = crowd.race([log_in(api), partial(ann.verify_login, code, temp_token)])

    # Begun with the old hash it would have been over at once; nothing was used up by that.
    assert (entered.status, passed.error) == (200, (401, "INVALID_TOKEN"))
    again = ann.verify_login(code, temp_token)
    assert again.status == 200
    assert api.get("me", token=again.data["access_token"]).status == 200


def test_a_better_hash_and_an_enrolment_on_demand(crowd, api, outdate, configure, cross):
    ann = Person(api).sign_up()
    configure(TWOFACTOR={"REQUIRED": "everybody"}, THROTTLE={"ENABLED": False})
    temp_token = ann.temp_token()
    ann.set_up()
    outdate()
    cross()

    entered, passed = crowd.race([log_in(api), partial(ann.verify_login, ann.code(), temp_token)])

    assert entered.status == 200
    assert passed.status in (200, 401)


def log_in(api):
    return partial(api.post, "login", email=ANN, password=PASSWORD)
