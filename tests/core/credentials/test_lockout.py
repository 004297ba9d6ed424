"""Password attempts: ten, then ever longer waits, for known and unknown names alike."""

import pytest
from django.contrib.auth.backends import BaseBackend
from django.core.cache import cache
from django.db import DatabaseError, InterfaceError, OperationalError

from authservice import signals
from authservice.core.credentials import attempt_counter
from authservice.core.models import AttemptCounter
from tests.support import hashing
from tests.support.client import PASSWORD, Api

pytestmark = pytest.mark.django_db

WRONG = (401, "INVALID_CREDENTIALS")
LOCKED = (429, "TOO_MANY_ATTEMPTS")
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
def attempt(api):
    """A login with a wrong password, by default at the first user's address."""

    def attempt(**name):
        return api.post("login", password="wrong", **(name or {"email": "ann@example.com"}))

    return attempt


@pytest.fixture
def used_up(attempt):
    """Use up the attempts at a name."""

    def used_up(**name):
        return [attempt(**name).error for _ in range(10)]

    return used_up


def log_in(api, **more):
    return api.post("login", **{"email": "ann@example.com", "password": PASSWORD, **more})


@pytest.mark.parametrize("name", NAMES)
def test_lockout_begins_after_ten_attempts(attempt, used_up, name):
    assert used_up(**NAMES[name]) == [WRONG] * 10
    assert attempt(**NAMES[name]).error == LOCKED


@pytest.mark.parametrize("name", NAMES)
def test_lockout_response_has_the_remaining_wait(attempt, used_up, name):
    used_up(**NAMES[name])

    assert 15 * MINUTE <= int(attempt(**NAMES[name]).headers["Retry-After"]) <= 15 * MINUTE + 1


@pytest.mark.parametrize("name", NAMES)
def test_lockout_response_is_the_same_for_every_name(attempt, used_up, name):
    used_up(**NAMES[name])
    used_up(email="ben@example.com")

    locked, other = attempt(**NAMES[name]), attempt(email="ben@example.com")

    assert locked.response.content == other.response.content


def test_lockout_also_refuses_the_right_password(api, used_up):
    used_up()

    assert log_in(api).error == LOCKED


def test_lockout_counts_variants_of_one_address_together(attempt):
    for variant in ("ann@example.com", "ANN@example.com", "ann@EXAMPLE.com", " ann@example.com"):
        attempt(email=variant)
    for _ in range(6):
        attempt(email="Ann@Example.Com")

    assert attempt(email="ann@example.com").error == LOCKED


def test_lockout_counts_username_and_address_separately(attempt, used_up):
    used_up(email="ann@example.com")

    assert attempt(username="ann").error == WRONG


def test_lockout_of_one_name_does_not_lock_another(attempt, used_up):
    used_up(email="nobody@example.com")

    assert attempt(email="ann@example.com").error == WRONG


def test_lockout_applies_to_every_client_address(api, used_up):
    used_up()

    answer = api.request(
        "POST",
        "login",
        {"email": "ann@example.com", "password": "wrong"},
        REMOTE_ADDR="203.0.113.9",
    )

    assert answer.error == LOCKED


def test_successful_login_refunds_its_attempt(api, attempt, used_up):
    for _ in range(20):
        assert log_in(api).status == 200

    assert used_up() == [WRONG] * 10


def test_successful_login_keeps_the_count_of_earlier_failures(api, attempt):
    for _ in range(9):
        attempt()
    log_in(api)
    attempt()

    assert attempt().error == LOCKED


def test_right_password_of_a_refused_login_counts_as_an_attempt(api, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    for _ in range(10):
        log_in(api)

    assert log_in(api).error == LOCKED


def test_attempts_expire_after_fifteen_minutes(clock, attempt, used_up):
    for _ in range(9):
        attempt()
    clock.forward(minutes=15)

    assert used_up() == [WRONG] * 10


def test_lockout_wait_begins_with_the_last_attempt(clock, attempt):
    for _ in range(9):
        attempt()
    clock.forward(minutes=14)
    attempt()
    clock.forward(minutes=14)

    assert attempt().error == LOCKED


def test_lockout_is_not_prolonged_by_refused_attempts(clock, attempt, used_up):
    used_up()
    clock.forward(minutes=14)
    attempt()
    clock.forward(minutes=1)

    assert attempt().error == WRONG


def test_lockout_allows_one_attempt_per_wait_and_waits_grow_to_an_hour(clock, attempt, used_up):
    used_up()
    waited = []
    for _ in range(7):
        wait = int(attempt().headers["Retry-After"]) // MINUTE
        clock.forward(minutes=wait, seconds=-1)
        assert attempt().error == LOCKED
        clock.forward(seconds=1)
        assert attempt().error == WRONG
        waited.append(wait)

    assert waited == [15, 15, 30, 60, 60, 60, 60]


def test_right_password_logs_in_after_the_lockout_wait(api, clock, used_up):
    used_up()
    clock.forward(minutes=15)

    assert log_in(api).status == 200


def test_lockout_is_reset_after_a_day_without_attempts(clock, attempt, used_up):
    used_up()
    clock.forward(minutes=15)
    attempt()
    clock.forward(days=1, minutes=15)

    assert used_up() == [WRONG] * 10


def test_lockout_is_not_reset_in_less_than_a_day(clock, attempt, used_up):
    used_up()
    clock.forward(hours=23)
    attempt()

    assert attempt().error == LOCKED


def test_lockout_applies_while_rate_limits_are_disabled(configure, attempt, used_up):
    configure(THROTTLE={"ENABLED": False})
    used_up()

    assert attempt().error == LOCKED


def test_lockout_survives_a_cleared_cache(attempt, used_up):
    used_up()
    cache.clear()

    assert attempt().error == LOCKED


def test_attempt_counter_does_not_store_the_name(attempt):
    attempt(email="nobody@example.com")

    assert "nobody" not in "".join(AttemptCounter.objects.values_list("key", flat=True))


def test_lockout_sends_account_throttled(attempt, used_up, received):
    used_up()
    events = received(signals.account_throttled)

    attempt()

    assert [event.action for event in events] == ["security.account.throttled"]


def test_lockout_refuses_without_a_hash(attempt, used_up):
    used_up()

    with hashing.spied() as spy:
        attempt()

    assert spy.made == []


def test_attempt_refunded_twice_is_no_free_attempt():
    key = attempt_counter.key("password", "ann")
    attempt_counter.consume(key, attempt_counter.PASSWORD)

    attempt_counter.refund(key)
    attempt_counter.refund(key)

    assert AttemptCounter.objects.get(key=key).count == 0


class Unreachable(BaseBackend):
    """Its database is away for a while."""

    def authenticate(self, request, username=None, password=None):
        raise outage["now"]


outage = {}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", [DatabaseError, InterfaceError, OperationalError])
def test_outage_of_a_database_is_no_attempt(settings, error):
    api = Api(raising=False)
    ordinary = settings.AUTHENTICATION_BACKENDS
    settings.AUTHENTICATION_BACKENDS, outage["now"] = [f"{__name__}.Unreachable"], error

    answers = [api.post("login", email="ann@example.com", password=PASSWORD) for _ in range(3)]

    assert {answer.status // 100 for answer in answers} == {5}
    assert not AttemptCounter.objects.filter(count__gt=0).exists()
    settings.AUTHENTICATION_BACKENDS = ordinary
    api.log_in()
