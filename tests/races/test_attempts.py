"""Guesses are counted before they are judged, so that parallel ones cannot share a try."""

from functools import partial

import pytest
from django.db import connections

from authservice.core.credentials import attempt_counter
from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.models import Account, AttemptCounter
from tests.client import PASSWORD
from tests.races.crowd import SIZE, tally
from tests.races.hashers import Counting

WRONG = "not " + PASSWORD
JUDGED = {"INVALID_CREDENTIALS": BUDGET.limit, "TOO_MANY_ATTEMPTS": SIZE - BUDGET.limit}


def guess(api, number, password=WRONG):
    return partial(api.post, "login", email=f"ann{number}@example.com", password=password)


def known(api, number):
    api.sign_up(f"ann{number}@example.com")


def unknown(api, number):
    pass


WHOEVER = pytest.mark.parametrize("prepare", [known, unknown])


@WHOEVER
def test_of_many_guesses_at_once_the_budget_is_judged(crowd, api, rounds, prepare):
    for number in rounds:
        prepare(api, number)

        assert tally(crowd.all_do(guess(api, number))) == JUDGED


@WHOEVER
def test_of_many_guesses_at_once_the_budget_is_hashed(crowd, api, rounds, prepare, hashes):
    for number in rounds:
        prepare(api, number)
        hashes.clear()

        crowd.all_do(guess(api, number))

        assert len(hashes) == BUDGET.limit


@pytest.mark.usefixtures("hearing")
def test_a_right_password_among_many_wrong_ones_buys_no_further_guess(crowd, api, rounds, hashes):
    for number in rounds:
        known(api, number)
        hashes.clear()

        wrong, right = guess(api, number), guess(api, number, PASSWORD)
        answers = crowd.race([right, *[wrong] * (SIZE - 1)])

        assert tally(answers)["INVALID_CREDENTIALS"] <= BUDGET.limit


@pytest.mark.usefixtures("hearing")
def test_right_passwords_at_once_cost_nothing(crowd, api, rounds):
    for number in rounds:
        known(api, number)
        assert set(tally(crowd.all_do(guess(api, number, PASSWORD)))) <= {200, "TOO_MANY_ATTEMPTS"}

        assert tally(crowd.all_do(guess(api, number))) == JUDGED


def test_as_many_right_passwords_as_the_budget_all_sign_in(crowd, api, rounds):
    for number in rounds:
        known(api, number)

        answers = crowd.race([guess(api, number, PASSWORD)] * BUDGET.limit)

        assert tally(answers) == {200: BUDGET.limit}


@pytest.fixture
def devices(api):
    def devices(number, many):
        body = {"email": f"ann{number}@example.com", "password": PASSWORD}
        known(api, number)
        return [api.post("login", **body).headers["X-Device-Token"] for _ in range(many)]

    return devices


def guess_on(api, number, device):
    return partial(guess(api, number), headers={"X-Device-Token": device})


def test_of_many_guesses_at_once_on_a_device_its_budget_is_judged(crowd, api, rounds, devices):
    for number in rounds:
        [device] = devices(number, 1)

        assert tally(crowd.all_do(guess_on(api, number, device))) == JUDGED


def test_of_many_guesses_at_once_on_all_devices_the_shared_budget_is_judged(
    crowd, api, rounds, devices, monkeypatch
):
    shared = attempt_counter.Budget.fixed(limit=15, window=attempt_counter.DAY)
    monkeypatch.setattr(attempt_counter, "ALL_DEVICES", shared)
    for number in rounds:
        tokens = devices(number, 8) * (SIZE // 8)

        answers = crowd.race(guess_on(api, number, token) for token in tokens)

        assert tally(answers) == {"INVALID_CREDENTIALS": 15, "TOO_MANY_ATTEMPTS": SIZE - 15}


def test_logins_at_once_on_new_devices_all_become_known(crowd, api, rounds):
    for number in rounds:
        known(api, number)
        crowd.race([guess(api, number, PASSWORD)] * BUDGET.limit)

        kept = Account.objects.get(email=f"ann{number}@example.com").device_ids
        assert len({kept[place : place + 32] for place in range(0, 320, 32)}) == 10


@WHOEVER
def test_a_guess_is_on_record_before_it_is_judged(
    crowd, api, prepare, hashes, monkeypatch, settings
):
    """Also where the host wraps each request in a transaction that ends after the answer."""
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    prepare(api, 1)
    recorded = []
    # The hash is worked out in another thread, and so over another connection, than this look.
    Counting.watch.append(
        lambda: recorded.extend(crowd.race([AttemptCounter.objects.filter(count=1).count]))
    )

    guess(api, 1)()

    assert recorded == [1]
