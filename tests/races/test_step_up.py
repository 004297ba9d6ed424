"""Concurrent step-ups: one proof counts once, an ended session and a removed factor win."""

from functools import partial

import pytest

from authservice.core.credentials import attempt_counter
from authservice.core.credentials.attempt_counter import Budget
from authservice.core.models import Session
from authservice.kernel.levels import Record
from authservice.twofactor import authenticators
from tests.races.crowd import SIZE, tally
from tests.support.client import PASSWORD
from tests.twofactor.people import Person


@pytest.fixture(autouse=True)
def _still(clock):
    """Freezes the time, so that TOTP codes change only when a test forwards it."""


@pytest.fixture(autouse=True)
def _budget(monkeypatch):
    """A crowd is larger than the limits of attempts, which these tests do not concern."""
    wide = Budget.fixed(limit=1000, window=authenticators.BUDGET.window)
    monkeypatch.setattr(authenticators, "BUDGET", wide)
    monkeypatch.setattr(attempt_counter, "PASSWORD", wide)


@pytest.fixture
def person(api, clock):
    """A user with a second factor, whose session proved the password only."""

    def make(number):
        ann = Person(api, f"ann{number}@example.com").sign_up().enrol()
        clock.forward(seconds=30)
        return ann

    return make


def asked(person, acr):
    (challenge,) = person.post("step-up", acr=acr).data["challenges"]
    return challenge["data"]["temp_token"]


def confirm(person, acr, **proof):
    return partial(person.post, "step-up/verify", temp_token=asked(person, acr), **proof)


def test_code_raises_a_session_once(crowd, rounds, person):
    for number in rounds:
        ann = person(number)

        answers = crowd.race(
            [confirm(ann, "aal2", code=ann.code()) for _ in range(4)] * (SIZE // 4)
        )

        counted = tally(answers)
        assert counted[200] == 1
        assert set(counted) <= {200, "TWO_FACTOR_INVALID", "INVALID_TOKEN"}


def test_step_up_and_logout_leave_no_token_of_an_ended_session(crowd, rounds, person, api):
    for number in rounds:
        ann = person(number)
        steps = [confirm(ann, "aal1", password=PASSWORD) for _ in range(4)] * (SIZE // 4)

        *answers, ended = crowd.race([*steps[1:], partial(ann.post, "logout")])

        assert ended.status == 200
        for answer in answers:
            assert answer.status in (200, 401)
            if answer.status == 200:
                token = answer.data["access_token"]
                assert api.get("me", token=token).error == (401, "INVALID_TOKEN")
        assert not Session.objects.filter(ended_at=None, user__email=ann.email).exists()


def test_step_up_and_removal_leave_no_level_without_its_factor(crowd, rounds, person, clock):
    for number in rounds:
        ann = person(number)
        steps = [confirm(ann, "aal2", code=code) for code in ann.backup_codes[:8]] * (SIZE // 8)
        remove = partial(ann.post, "2fa/disable", code=ann.code())

        removed, *answers = crowd.race([remove, *steps[1:]])

        assert removed.status == 200
        assert set(tally(answers)) <= {200, "TWO_FACTOR_INVALID", "INVALID_TOKEN"}
        session = Session.objects.get(user__email=ann.email, ended_at=None)
        assert Record(session.levels).last("aal2") is None
        clock.forward(seconds=30)


def test_challenge_is_answered_by_one_of_many(crowd, rounds, person):
    for number in rounds:
        ann = person(number)
        temp_token = asked(ann, "aal1")
        step = partial(ann.post, "step-up/verify", temp_token=temp_token, password=PASSWORD)

        answers = crowd.all_do(step)

        assert tally(answers) == {200: 1, "INVALID_TOKEN": SIZE - 1}
