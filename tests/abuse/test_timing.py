"""How long a refusal takes tells nobody whether there is an account.

`test_one_hash` counts the hashes, which is exact; here the clock itself is asked, for all the rest,
under the hash that is offered: beside its 20 ms a row that is read or not is some 80 microseconds,
which nobody can average out of the ten tries that a name has.
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
from tests.client import BASE, PASSWORD, csrf_pair
from tests.people import deactivate, make_user

ROUNDS = 400
REPEATS = 3  # a busy machine may part two samples by chance
CLOSE, LIKELY = 0.05, 0.01
WRONG = {"password": "wrong " + PASSWORD}
LOGINS = {
    "a wrong password": {"email": "ann@example.com", **WRONG},
    "an unknown address": {"email": "nobody@example.com", **WRONG},
    "no password": {"email": "ben@example.com", **WRONG},
    "an inactive user": {"email": "cid@example.com", **WRONG},
}
LETTERS = {
    "somebody": {"email": "ann@example.com"},
    "nobody": {"email": "nobody@example.com"},
    "somebody inactive": {"email": "cid@example.com"},
}


@pytest.fixture(autouse=True)
def _people(db, configure, settings):
    configure(THROTTLE={"ENABLED": False})
    settings.PASSWORD_HASHERS = ["authservice.hashers.Argon2id"]
    make_user("ann@example.com")
    make_user("ben@example.com", password=None)
    make_user("cid@example.com")
    deactivate("cid@example.com")


def seconds(deed):
    start = time.perf_counter()
    deed()
    return time.perf_counter() - start


def measured(path, bodies):
    """How long each kind of request took, by turns in any order, so that whatever else the machine
    does strikes all kinds alike."""
    client, headers, random = Client(), csrf_pair({}), Random(1)

    def ask(path, body):
        raw = json.dumps(body)
        client.post(BASE + path, raw, content_type="application/json", headers=headers)

    taken = {name: [] for name in bodies}
    for _ in range(ROUNDS):
        AttemptCounter.objects.all().delete()
        ask("forgot-password", {"email": "warm@example.com"})  # the first after that is slower
        for name in random.sample(list(bodies), len(bodies)):
            taken[name].append(seconds(lambda body=bodies[name]: ask(path, body)))
    return taken


def told_apart(path, bodies):
    """The kinds that the clock tells from the first one, beyond what one hash lets through."""
    hash_time = median(seconds(lambda: make_password(PASSWORD)) for _ in range(20))
    first, *others = bodies
    for _ in range(REPEATS):
        taken = measured(path, bodies)
        apart = [
            name
            for name in others
            if abs(median(taken[name]) - median(taken[first])) > CLOSE * hash_time
            or mann_whitney(taken[first], taken[name]) < LIKELY
        ]
        if not apart:
            break
    return apart


@pytest.mark.slow
def test_a_login_that_fails_takes_as_long_for_every_reason():
    assert told_apart("login", LOGINS) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", ["forgot-password", "send-verification-email"])
def test_asking_for_a_letter_takes_as_long_for_everybody(path):
    assert told_apart(path, LETTERS) == []


def test_the_judge_tells_a_hash_more_from_none():
    samples = [5.0 + number % 7 / 10 for number in range(100)]

    assert mann_whitney(samples, samples) > 0.9
    assert mann_whitney(samples, [sample + 5 for sample in samples]) < 0.001
    assert mann_whitney(samples, [sample + 0.2 for sample in samples]) < LIKELY
