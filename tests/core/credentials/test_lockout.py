"""Guessing a password: ten tries, then ever longer waits, for whoever is named, known or not."""

import pytest
from django.core.cache import cache

from authservice import signals
from authservice.core.credentials import attempt_counter
from authservice.core.models import AttemptCounter
from tests import hashing
from tests.client import PASSWORD

pytestmark = pytest.mark.django_db

WRONG = (401, "INVALID_CREDENTIALS")
SHUT = (429, "TOO_MANY_ATTEMPTS")
MINUTE = 60
NAMES = {
    "a known address": {"email": "ann@example.com"},
    "an unknown address": {"email": "nobody@example.com"},
    "a known username": {"username": "ann"},
    "an unknown username": {"username": "nobody"},
}


@pytest.fixture(autouse=True)
def _ann(api, clock):
    api.sign_up(username="ann")


@pytest.fixture
def guess(api):
    """A wrong guess at a name; the first user's address unless told otherwise."""

    def guess(**name):
        return api.post("login", password="wrong", **(name or {"email": "ann@example.com"}))

    return guess


@pytest.fixture
def used_up(guess):
    """Use up the budget of a name."""

    def used_up(**name):
        return [guess(**name).error for _ in range(10)]

    return used_up


def log_in(api, **more):
    return api.post("login", **{"email": "ann@example.com", "password": PASSWORD, **more})


@pytest.mark.parametrize("name", NAMES)
def test_ten_tries_are_judged_and_the_next_is_not(guess, used_up, name):
    assert used_up(**NAMES[name]) == [WRONG] * 10
    assert guess(**NAMES[name]).error == SHUT


@pytest.mark.parametrize("name", NAMES)
def test_a_shut_door_says_when_it_opens(guess, used_up, name):
    used_up(**NAMES[name])

    assert 15 * MINUTE <= int(guess(**NAMES[name]).headers["Retry-After"]) <= 15 * MINUTE + 1


@pytest.mark.parametrize("name", NAMES)
def test_a_shut_door_looks_the_same_for_everybody(guess, used_up, name):
    used_up(**NAMES[name])
    used_up(email="ben@example.com")

    shut, other = guess(**NAMES[name]), guess(email="ben@example.com")

    assert shut.response.content == other.response.content


def test_a_shut_door_does_not_open_to_the_right_password(api, used_up):
    used_up()

    assert log_in(api).error == SHUT


def test_spellings_of_one_address_share_a_budget(guess):
    for spelling in ("ann@example.com", "ANN@example.com", "ann@EXAMPLE.com", " ann@example.com"):
        guess(email=spelling)
    for _ in range(6):
        guess(email="Ann@Example.Com")

    assert guess(email="ann@example.com").error == SHUT


def test_username_and_address_are_counted_apart(guess, used_up):
    used_up(email="ann@example.com")

    assert guess(username="ann").error == WRONG


def test_one_name_does_not_shut_the_door_of_another(guess, used_up):
    used_up(email="nobody@example.com")

    assert guess(email="ann@example.com").error == WRONG


def test_the_client_address_makes_no_difference(api, used_up):
    used_up()

    answer = api.request(
        "POST",
        "login",
        {"email": "ann@example.com", "password": "wrong"},
        REMOTE_ADDR="203.0.113.9",
    )

    assert answer.error == SHUT


def test_a_success_gives_its_count_back(api, guess, used_up):
    for _ in range(20):
        assert log_in(api).status == 200

    assert used_up() == [WRONG] * 10


def test_a_success_forgives_no_failure(api, guess):
    for _ in range(9):
        guess()
    log_in(api)
    guess()

    assert guess().error == SHUT


def test_a_right_password_that_may_not_come_in_counts(api, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    for _ in range(10):
        log_in(api)

    assert log_in(api).error == SHUT


def test_tries_lapse_after_fifteen_minutes(clock, guess, used_up):
    for _ in range(9):
        guess()
    clock.forward(minutes=15)

    assert used_up() == [WRONG] * 10


def test_the_wait_begins_with_the_last_try(clock, guess):
    for _ in range(9):
        guess()
    clock.forward(minutes=14)
    guess()
    clock.forward(minutes=14)

    assert guess().error == SHUT


def test_tries_on_a_shut_door_do_not_lengthen_the_wait(clock, guess, used_up):
    used_up()
    clock.forward(minutes=14)
    guess()
    clock.forward(minutes=1)

    assert guess().error == WRONG


def test_after_the_wait_there_is_one_try_at_a_time_and_waits_grow_to_an_hour(clock, guess, used_up):
    used_up()
    waited = []
    for _ in range(7):
        wait = int(guess().headers["Retry-After"]) // MINUTE
        clock.forward(minutes=wait, seconds=-1)
        assert guess().error == SHUT
        clock.forward(seconds=1)
        assert guess().error == WRONG
        waited.append(wait)

    assert waited == [15, 15, 30, 60, 60, 60, 60]


def test_after_the_wait_the_right_password_opens(api, clock, used_up):
    used_up()
    clock.forward(minutes=15)

    assert log_in(api).status == 200


def test_a_day_of_silence_forgives(clock, guess, used_up):
    used_up()
    clock.forward(minutes=15)
    guess()
    clock.forward(days=1, minutes=15)

    assert used_up() == [WRONG] * 10


def test_less_than_a_day_does_not(clock, guess, used_up):
    used_up()
    clock.forward(hours=23)
    guess()

    assert guess().error == SHUT


def test_flood_limits_that_are_off_do_not_turn_it_off(configure, guess, used_up):
    configure(THROTTLE={"ENABLED": False})
    used_up()

    assert guess().error == SHUT


def test_a_cleared_cache_forgives_nothing(guess, used_up):
    used_up()
    cache.clear()

    assert guess().error == SHUT


def test_the_stored_counter_names_nobody(guess):
    guess(email="nobody@example.com")

    assert "nobody" not in "".join(AttemptCounter.objects.values_list("key", flat=True))


def test_a_shut_door_is_told_to_the_host(guess, used_up, heard, django_capture_on_commit_callbacks):
    used_up()
    events = heard(signals.account_throttled)

    with django_capture_on_commit_callbacks(execute=True):
        guess()

    assert [event.action for event in events] == ["security.account.throttled"]


def test_a_refused_try_costs_no_hash(guess, used_up):
    used_up()

    with hashing.spied() as spy:
        guess()

    assert spy.made == []


def test_a_count_given_back_twice_is_no_free_guess():
    key = attempt_counter.key("password", "ann")
    attempt_counter.consume(key, attempt_counter.PASSWORD)

    attempt_counter.refund(key)
    attempt_counter.refund(key)

    assert AttemptCounter.objects.get(key=key).count == 0
