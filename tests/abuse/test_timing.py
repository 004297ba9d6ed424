"""The duration of a refusal does not reveal whether an account exists.

`test_one_hash` counts the hashes, which is exact. These tests measure the durations, with the
default hasher: a hash takes 20 ms, a statement some 200 microseconds. The row of a user who exists
takes some 80 microseconds to decode, which hundreds of requests show, but not as many as an
account accepts.
"""

import json
import time
from random import Random
from statistics import median

import pytest
from django.contrib.auth.hashers import make_password
from django.test import Client

from authservice.core.models import AttemptCounter
from tests.abuse.samples import mann_whitney
from tests.support.client import BASE, PASSWORD, csrf_pair
from tests.support.people import deactivate, make_user

ROUNDS = 100  # attempts of unknown clients on one account in a day
REPEATS = 5  # on a busy machine two samples may differ by chance
CLOSE = 0.05  # share of the duration of a hash
LIKELY = 0.01  # p-value below which two samples differ
WRONG = {"password": "wrong " + PASSWORD}
LOGINS = {
    "a wrong password": {"email": "ann@example.com", **WRONG},
    "an unknown address": {"email": "nobody@example.com", **WRONG},
    "no password": {"email": "ben@example.com", **WRONG},
    "an inactive user": {"email": "cid@example.com", **WRONG},
}
MESSAGES = {
    "known": {"email": "ann@example.com"},
    "unknown": {"email": "nobody@example.com"},
    "inactive": {"email": "cid@example.com"},
}


@pytest.fixture(autouse=True)
def _users(db, configure, settings):
    configure(THROTTLE={"ENABLED": False})
    settings.PASSWORD_HASHERS = ["authservice.hashers.Argon2id"]
    make_user("ann@example.com")
    make_user("ben@example.com", password=None)
    make_user("cid@example.com")
    deactivate("cid@example.com")


def seconds(act):
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def measured(path, bodies):
    """The durations of each kind of request. The kinds alternate in random order, so that other
    work of the machine affects all of them alike."""
    client, headers, random = Client(), csrf_pair({}), Random(1)

    def ask(path, body):
        raw = json.dumps(body)
        client.post(BASE + path, raw, content_type="application/json", headers=headers)

    durations = {name: [] for name in bodies}
    for _ in range(ROUNDS):
        AttemptCounter.objects.all().delete()
        # The first request after the deletion is slower, so it is not measured.
        ask("forgot-password", {"email": "warm@example.com"})
        for name in random.sample(list(bodies), len(bodies)):
            durations[name].append(seconds(lambda body=bodies[name]: ask(path, body)))
    return durations


def distinguishable(path, bodies):
    """The kinds whose durations differ from the first one, by `CLOSE` or `LIKELY`."""
    hash_time = median(seconds(lambda: make_password(PASSWORD)) for _ in range(20))
    first, *others = bodies
    for _ in range(REPEATS):
        durations = measured(path, bodies)
        different = [
            name
            for name in others
            if abs(median(durations[name]) - median(durations[first])) > CLOSE * hash_time
            or mann_whitney(durations[first], durations[name]) < LIKELY
        ]
        if not different:
            break
    return different


@pytest.mark.slow
@pytest.mark.timed
def test_failed_login_takes_as_long_for_every_reason():
    assert distinguishable("login", LOGINS) == []


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.parametrize("path", ["forgot-password", "send-verification-email"])
def test_request_of_an_email_takes_as_long_for_every_address(path):
    assert distinguishable(path, MESSAGES) == []


def test_rank_sum_test_detects_one_more_hash():
    samples = [5.0 + number % 7 / 10 for number in range(100)]

    assert mann_whitney(samples, samples) > 0.9
    assert mann_whitney(samples, [sample + 5 for sample in samples]) < 0.001
    assert mann_whitney(samples, [sample + 0.2 for sample in samples]) < LIKELY
