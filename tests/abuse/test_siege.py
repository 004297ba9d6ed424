"""A day of guessing from a thousand addresses buys few guesses, and shuts nobody out."""

from itertools import count

import pytest

from tests import hashing
from tests.client import PASSWORD
from tests.people import make_user

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
ANN = {"email": "ann@example.com"}
DAY, STEP, BURST = 24 * 60, 5, 10  # minutes, minutes, guesses: 2,880 in a day


@pytest.fixture
def besieged(api, clock):
    """Ann's device, and how many hashes a day of guesses at her address cost."""
    make_user(ANN["email"])
    device = api.post("login", password=PASSWORD, **ANN).headers["X-Device-Token"]
    addresses = (f"203.0.{number // 250 % 4}.{number % 250}" for number in count())
    with hashing.spied() as spy:
        for _ in range(DAY // STEP):
            for _ in range(BURST):
                body = {**ANN, "password": "wrong"}
                answer = api.request("POST", "login", body, REMOTE_ADDR=next(addresses))
                assert answer.status in (401, 429)
            clock.forward(minutes=STEP)
    return device, len(spy.made)


def test_few_guesses_are_judged_and_the_owners_device_comes_in(api, besieged):
    device, judged = besieged

    assert judged <= 100
    answer = api.post("login", password=PASSWORD, headers={"X-Device-Token": device}, **ANN)
    assert answer.status == 200
