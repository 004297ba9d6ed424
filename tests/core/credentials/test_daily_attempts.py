"""The daily limit of attempts also applies to clients that stop before the limit of a window."""

import pytest

from authservice import signals

pytestmark = pytest.mark.django_db

WRONG = (401, "INVALID_CREDENTIALS")
LOCKED = (429, "TOO_MANY_ATTEMPTS")
HOUR = 60 * 60
NAMES = {
    "a known address": {"email": "ann@example.com"},
    "an unknown address": {"email": "nobody@example.com"},
    "a known username": {"username": "ann"},
    "an unknown username": {"username": "nobody"},
}


@pytest.fixture(autouse=True)
def _ann(api, clock, configure):
    configure(THROTTLE={"ENABLED": False})
    api.sign_up(username="ann")


@pytest.fixture
def attempt(api):
    """A login with a wrong password, by default at the first user's address."""

    def attempt(**name):
        return api.post("login", password="wrong", **(name or {"email": "ann@example.com"}))

    return attempt


def test_account_with_two_identifiers_has_a_hundred_attempts_a_day(clock, attempt):
    """A client that stops before the end of each window never has to wait."""
    errors = []
    for _ in range(8):
        for _ in range(9):
            errors += [attempt().error, attempt(username="ann").error]
        clock.forward(minutes=15)

    assert errors.count(WRONG) == 100


@pytest.mark.parametrize("name", NAMES)
def test_identifier_known_or_unknown_has_fifty_attempts_a_day(clock, attempt, name):
    errors = []
    for _ in range(10):
        errors += [attempt(**NAMES[name]).error for _ in range(9)]
        clock.forward(minutes=15)

    assert errors.count(WRONG) == 50
    assert errors[50:] == [LOCKED] * 40


def test_daily_attempts_return_after_a_day(api, clock, attempt):
    for _ in range(10):
        for _ in range(9):
            attempt()
        clock.forward(minutes=15)
    wait = int(attempt().headers["Retry-After"])
    clock.forward(seconds=wait)

    assert 21 * HOUR < wait < 22 * HOUR
    assert api.log_in()


def test_throttled_account_is_reported_once_per_window(clock, attempt, received):
    events = received(signals.account_throttled)
    for _ in range(30):
        attempt()
    assert len(events) == 1

    clock.forward(minutes=15)
    assert attempt().error == WRONG
    for _ in range(20):
        attempt()
    assert len(events) == 2
