"""The daily limit of attempts also applies to clients that stop before each window is used up."""

import pytest

from authservice import signals

pytestmark = pytest.mark.django_db

WRONG = (401, "INVALID_CREDENTIALS")
SHUT = (429, "TOO_MANY_ATTEMPTS")
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
def guess(api):
    """A wrong guess at a name, by default the first user's address."""

    def guess(**name):
        return api.post("login", password="wrong", **(name or {"email": "ann@example.com"}))

    return guess


def test_account_with_two_identifiers_takes_a_hundred_guesses_in_a_day(clock, guess):
    """A client that stops before the end of each window never has to wait."""
    errors = []
    for _ in range(8):
        for _ in range(9):
            errors += [guess().error, guess(username="ann").error]
        clock.forward(minutes=15)

    assert errors.count(WRONG) == 100


@pytest.mark.parametrize("name", NAMES)
def test_identifier_takes_fifty_guesses_in_a_day_known_or_not(clock, guess, name):
    errors = []
    for _ in range(10):
        errors += [guess(**NAMES[name]).error for _ in range(9)]
        clock.forward(minutes=15)

    assert errors.count(WRONG) == 50
    assert errors[50:] == [SHUT] * 40


def test_guesses_of_a_day_return_after_a_day(api, clock, guess):
    for _ in range(10):
        for _ in range(9):
            guess()
        clock.forward(minutes=15)
    wait = int(guess().headers["Retry-After"])
    clock.forward(seconds=wait)

    assert 21 * HOUR < wait < 22 * HOUR
    assert api.log_in()


def test_one_refusal_of_a_window_is_reported(
    clock, guess, heard, django_capture_on_commit_callbacks
):
    events = heard(signals.account_throttled)
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(30):
            guess()
    assert len(events) == 1

    clock.forward(minutes=15)
    with django_capture_on_commit_callbacks(execute=True):
        assert guess().error == WRONG
        for _ in range(20):
            guess()
    assert len(events) == 2
