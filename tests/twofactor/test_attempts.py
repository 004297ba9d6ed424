"""Attempts at codes are counted per account, over all logins and routes, before each check."""

import pytest
from django.db import connections

from authservice.core.models import AttemptCounter
from authservice.core.users import lookup
from authservice.twofactor import authenticators
from tests.support.client import PASSWORD
from tests.support.people import the_user
from tests.twofactor.people import ANN

pytestmark = pytest.mark.django_db
REFUSED = (401, "TWO_FACTOR_INVALID")
LOCKED = (429, "TOO_MANY_ATTEMPTS")
NO_CODE = "AAAA-BBBB-CCCC"
ROUTES = ("2fa/disable", "2fa/backup-codes")


def attempt(person, times, code=None):
    for _ in range(times):
        answer = person.verify_login(code or person.wrong_code())
    return answer


def test_account_is_locked_after_ten_wrong_codes_over_all_temp_tokens(enrolled):
    assert attempt(enrolled, 10).error == REFUSED
    assert attempt(enrolled, 1).error == LOCKED


def test_locked_account_refuses_the_right_code_too(enrolled):
    attempt(enrolled, 10)

    assert enrolled.verify_login(enrolled.code()).error == LOCKED


def test_locked_account_is_reported_with_the_time_to_wait(enrolled):
    attempt(enrolled, 10)

    assert attempt(enrolled, 1).headers["Retry-After"] == "900"


def test_lockout_ends_after_fifteen_minutes(enrolled, clock):
    attempt(enrolled, 10)

    clock.forward(minutes=15)

    assert enrolled.verify_login(enrolled.code()).status == 200


def test_lockout_after_each_further_attempt_doubles_up_to_an_hour(enrolled, clock):
    attempt(enrolled, 10)
    waits = [15]
    for _ in range(4):
        clock.forward(minutes=waits[-1])
        assert attempt(enrolled, 1).error == REFUSED
        waits.append(int(attempt(enrolled, 1).headers["Retry-After"]) // 60)

    assert waits[1:] == [15, 30, 60, 60]


def test_client_that_stops_before_the_limit_has_fifty_attempts_a_day(enrolled, clock, configure):
    configure(THROTTLE={"ENABLED": False})
    errors = []
    for _ in range(6):
        errors += [attempt(enrolled, 1).error for _ in range(9)]
        clock.forward(minutes=15)

    assert errors == [REFUSED] * 50 + [LOCKED] * 4
    clock.forward(days=1)
    assert enrolled.verify_login(enrolled.code()).status == 200


@pytest.mark.parametrize("route", ROUTES)
def test_wrong_codes_in_a_session_count_with_those_at_login(enrolled, route):
    for _ in range(5):
        enrolled.post(route, code=enrolled.wrong_code())
    attempt(enrolled, 5)

    assert enrolled.post(route, code=enrolled.code()).error == LOCKED
    assert enrolled.verify_login(enrolled.code()).error == LOCKED


def test_attempts_at_enabling_are_limited_too(ann):
    ann.set_up()
    for _ in range(10):
        assert ann.post("2fa/verify", code=ann.wrong_code()).code == "TWO_FACTOR_INVALID"
    ann.set_up()

    assert ann.post("2fa/verify", code=ann.code()).error == LOCKED


def test_lockout_of_app_codes_leaves_backup_codes_usable(enrolled):
    attempt(enrolled, 11)

    assert enrolled.verify_login(enrolled.backup_codes[0]).status == 200


def test_lockout_of_backup_codes_leaves_app_codes_usable(enrolled):
    assert attempt(enrolled, 11, NO_CODE).error == LOCKED

    assert enrolled.verify_login(enrolled.code()).status == 200


def test_attempts_at_a_used_up_temp_token_do_not_count_for_the_account(enrolled):
    token = enrolled.temp_token()
    for _ in range(20):
        enrolled.verify_login(enrolled.wrong_code(), token)

    assert enrolled.verify_login(enrolled.code()).status == 200


def test_attempts_at_an_unknown_temp_token_do_not_count_for_any_account(enrolled):
    before = list(AttemptCounter.objects.values())
    for _ in range(11):
        enrolled.verify_login(enrolled.wrong_code(), "A" * 43)

    assert list(AttemptCounter.objects.values()) == before


def test_right_code_does_not_count_as_an_attempt(enrolled, clock):
    for _ in range(12):
        clock.forward(seconds=30)
        assert enrolled.verify_login(enrolled.code()).status == 200

    assert attempt(enrolled, 10).error == REFUSED


def test_right_code_does_not_refund_wrong_attempts(enrolled, clock):
    attempt(enrolled, 9)
    enrolled.verify_login(enrolled.code())

    assert attempt(enrolled, 1).error == REFUSED
    assert attempt(enrolled, 1).error == LOCKED


def test_attempts_at_passwords_are_counted_separately(api, enrolled):
    attempt(enrolled, 11)

    assert api.post("login", email=ANN, password=PASSWORD).status == 200


def test_attempts_are_kept_if_each_request_is_a_transaction(enrolled, monkeypatch):
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)

    assert attempt(enrolled, 10).error == REFUSED
    assert attempt(enrolled, 1).error == LOCKED


# Known devices


def device_of(answer):
    return {"X-Device-Token": answer.headers["X-Device-Token"]}


@pytest.fixture
def device(enrolled, clock):
    """The header of a device on which its owner logged in."""
    header = device_of(enrolled.verify_login(enrolled.code()))
    clock.forward(seconds=30)
    return header


def test_known_device_is_not_locked_out_by_unknown_clients(enrolled, device):
    attempt(enrolled, 11)

    assert enrolled.verify_login(enrolled.code(), headers=device).status == 200


def test_known_device_has_limited_attempts_too(enrolled, device):
    for _ in range(10):
        answer = enrolled.verify_login(enrolled.wrong_code(), headers=device)
    assert answer.error == REFUSED

    assert enrolled.verify_login(enrolled.code(), headers=device).error == LOCKED
    assert enrolled.verify_login(enrolled.code()).status == 200


def test_devices_from_before_the_factor_have_no_attempts_of_their_own(api, ann, clock):
    """An attacker with the password alone could have logged in on any number of devices."""
    body = {"email": ANN, "password": PASSWORD}
    early = [api.post("login", **body).headers["X-Device-Token"] for _ in range(3)]
    clock.forward(seconds=30)
    ann.enrol()
    clock.forward(seconds=30)

    attempt(ann, 10)

    for token in early:
        answer = ann.verify_login(ann.wrong_code(), headers={"X-Device-Token": token})
        assert answer.error == LOCKED


def test_device_that_enabled_the_factor_has_attempts_of_its_own(api, ann, clock):
    logged_in = api.post("login", email=ANN, password=PASSWORD)
    ann.token = logged_in.data["access_token"]
    clock.forward(seconds=30)
    ann.enrol()
    clock.forward(seconds=30)

    attempt(ann, 11)

    assert ann.verify_login(ann.code(), headers=device_of(logged_in)).status == 200


def test_device_from_before_gets_attempts_of_its_own_after_a_right_code(api, ann, clock):
    early = device_of(api.post("login", email=ANN, password=PASSWORD))
    clock.forward(seconds=30)
    ann.enrol()
    clock.forward(seconds=30)
    later = device_of(ann.verify_login(ann.code(), headers=early))
    clock.forward(seconds=30)

    attempt(ann, 11)

    assert ann.verify_login(ann.code(), headers=later).status == 200


def test_locked_user_can_be_unlocked(enrolled, device):
    attempt(enrolled, 11)
    for _ in range(11):
        enrolled.verify_login(enrolled.wrong_code(), headers=device)

    authenticators.unlock_attempts([lookup.get_person(the_user())])

    assert enrolled.verify_login(enrolled.code(), headers=device).status == 200
    assert enrolled.verify_login(enrolled.code(1)).status == 200
