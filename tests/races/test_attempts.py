"""Attempts are counted before they are checked, so that parallel requests cannot share one."""

from functools import partial

import pytest
from django.db import connections

from authservice.core.credentials import attempt_counter
from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.models import Account, AttemptCounter
from authservice.signals import account_throttled
from tests.races.crowd import SIZE, tally
from tests.races.hashers import Counting
from tests.support.client import PASSWORD

WRONG = "not " + PASSWORD
LIMITED = {"INVALID_CREDENTIALS": BUDGET.limit, "TOO_MANY_ATTEMPTS": SIZE - BUDGET.limit}


def attempt(api, number, password=WRONG):
    return partial(api.post, "login", email=f"ann{number}@example.com", password=password)


def known(api, number):
    api.sign_up(f"ann{number}@example.com")


def unknown(api, number):
    pass


KNOWN_OR_UNKNOWN = pytest.mark.parametrize("prepare", [known, unknown])


@KNOWN_OR_UNKNOWN
def test_parallel_wrong_passwords_are_checked_up_to_the_limit(crowd, api, rounds, prepare):
    for number in rounds:
        prepare(api, number)

        assert tally(crowd.all_do(attempt(api, number))) == LIMITED


@KNOWN_OR_UNKNOWN
def test_parallel_wrong_passwords_are_hashed_up_to_the_limit(crowd, api, rounds, prepare, hashes):
    for number in rounds:
        prepare(api, number)
        hashes.clear()

        crowd.all_do(attempt(api, number))

        assert len(hashes) == BUDGET.limit


@pytest.mark.usefixtures("login_receivers")
def test_correct_password_among_wrong_ones_allows_no_further_attempt(crowd, api, rounds, hashes):
    for number in rounds:
        known(api, number)
        hashes.clear()

        wrong, right = attempt(api, number), attempt(api, number, PASSWORD)
        answers = crowd.race([right, *[wrong] * (SIZE - 1)])

        assert tally(answers)["INVALID_CREDENTIALS"] <= BUDGET.limit


@pytest.mark.usefixtures("login_receivers")
def test_parallel_correct_passwords_use_no_attempts(crowd, api, rounds):
    for number in rounds:
        known(api, number)
        assert set(tally(crowd.all_do(attempt(api, number, PASSWORD)))) <= {
            200,
            "SERVICE_UNAVAILABLE",
        }

        assert tally(crowd.all_do(attempt(api, number))) == LIMITED


MORE = BUDGET.limit + 2


@pytest.mark.parametrize("slots", [1, 2, 2 * MORE])
def test_parallel_correct_passwords_all_log_in(crowd, api, rounds, configure, received, slots):
    """More than the limit of wrong ones: an attempt waits for its turn before it is counted."""
    configure(CORE={"HASHES_IN_FLIGHT": slots})
    throttled = received(account_throttled)
    for number in rounds:
        known(api, number)

        answers = crowd.race([attempt(api, number, PASSWORD)] * MORE)

        assert tally(answers) == {200: MORE}
    assert throttled == []


@pytest.mark.parametrize("slots", [1, 2 * MORE])
def test_parallel_correct_passwords_on_a_device_all_log_in(
    crowd, api, rounds, devices, configure, slots
):
    configure(CORE={"HASHES_IN_FLIGHT": slots})
    for number in rounds:
        [device] = devices(number, 1)

        answers = crowd.race(
            [partial(attempt(api, number, PASSWORD), headers={"X-Device-Token": device})] * MORE
        )

        assert tally(answers) == {200: MORE}


def test_parallel_current_passwords_are_all_accepted(crowd, api, rounds):
    for number in rounds:
        token = api.sign_up(f"ann{number}@example.com")["access_token"]
        body = {"password": PASSWORD, "phone_number": ""}

        answers = crowd.race([partial(api.request, "PUT", "profile", body, token=token)] * MORE)

        assert tally(answers) == {200: MORE}


@pytest.fixture
def devices(api):
    def devices(number, many):
        body = {"email": f"ann{number}@example.com", "password": PASSWORD}
        known(api, number)
        return [api.post("login", **body).headers["X-Device-Token"] for _ in range(many)]

    return devices


def attempt_on(api, number, device):
    return partial(attempt(api, number), headers={"X-Device-Token": device})


def test_parallel_wrong_passwords_on_a_device_are_checked_up_to_its_limit(
    crowd, api, rounds, devices
):
    for number in rounds:
        [device] = devices(number, 1)

        assert tally(crowd.all_do(attempt_on(api, number, device))) == LIMITED


def test_parallel_wrong_passwords_on_all_devices_are_checked_up_to_the_shared_limit(
    crowd, api, rounds, devices, monkeypatch
):
    shared = attempt_counter.Budget.fixed(limit=15, window=attempt_counter.DAY)
    monkeypatch.setattr(attempt_counter, "ALL_DEVICES", shared)
    for number in rounds:
        tokens = devices(number, 8) * (SIZE // 8)

        answers = crowd.race(attempt_on(api, number, token) for token in tokens)

        assert tally(answers) == {"INVALID_CREDENTIALS": 15, "TOO_MANY_ATTEMPTS": SIZE - 15}


def test_parallel_logins_on_new_devices_make_all_devices_known(crowd, api, rounds):
    for number in rounds:
        known(api, number)
        crowd.race([attempt(api, number, PASSWORD)] * BUDGET.limit)

        kept = Account.objects.get(email=f"ann{number}@example.com").device_ids
        assert len({kept[place : place + 32] for place in range(0, 320, 32)}) == 10


@KNOWN_OR_UNKNOWN
def test_attempt_is_stored_before_the_password_is_checked(
    crowd, api, prepare, hashes, monkeypatch, settings
):
    """Also if the host runs each request in a transaction (`ATOMIC_REQUESTS`)."""
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    prepare(api, 1)
    recorded = []
    # This query runs in another thread, and so on another connection, than the request.
    Counting.watch.append(
        lambda: recorded.extend(crowd.race([AttemptCounter.objects.filter(count=1).count]))
    )

    attempt(api, 1)()

    assert recorded == [1]
