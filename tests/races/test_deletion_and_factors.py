"""Deleting a user during second steps and factor setups: these are refused, never a 5xx."""

from functools import partial

import pytest

from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.kernel.interfaces import Arrival
from authservice.twofactor import authenticators, verify_login
from authservice.twofactor.models import Authenticator
from tests.admin_api.people import promote
from tests.races.crowd import tally
from tests.twofactor.people import Person

ROOT = "root@example.com"
STEPS = 10
REFUSALS = {"INVALID_TOKEN", "INVALID_CREDENTIALS", "TWO_FACTOR_INVALID", "UNAUTHORIZED"}


@pytest.fixture(autouse=True)
def _still(clock):
    """Freezes the time, so that TOTP codes change only when a test forwards it."""


@pytest.fixture
def root(crowd, api):
    """The token of the one super admin."""
    token = api.sign_up(ROOT)["access_token"]
    promote(ROOT)
    return token


@pytest.fixture
def ten_rounds(rounds):
    return rounds[:10]


def temp_tokens(person, purpose=verify_login.GIVE_CODE):
    arrival = Arrival(
        person=lookup.find_by_id(person.user_id),
        client=Client(),
        method="password",
        proofs=("pwd",),
    )
    return [
        verify_login.issue_challenge(purpose, arrival, ()).data["temp_token"] for _ in range(STEPS)
    ]


def steps_and_deletion(api, root, person, steps):
    delete = partial(api.request, "DELETE", f"admin/users/{person.user_id}", token=root)
    return [*steps[: STEPS // 2], delete, *steps[STEPS // 2 :]]


def check(answers, person):
    counted = tally(answers)
    assert set(counted) <= {200, *REFUSALS, "TOO_MANY_ATTEMPTS"}, counted
    assert answers[STEPS // 2].status == 200
    assert not Account.objects.filter(pk=person.user_id).exists()
    assert not Authenticator.objects.filter(user_id=person.user_id).exists()


def test_second_step_during_the_deletion_of_its_user_is_not_a_5xx(
    root, api, crowd, ten_rounds, clock, monkeypatch
):
    monkeypatch.setattr(
        authenticators,
        "BUDGET",
        authenticators.Budget.fixed(limit=1000, window=authenticators.BUDGET.window),
    )
    for number in ten_rounds:
        ann = Person(api, f"ann{number}@example.com").sign_up().enrol()
        clock.forward(seconds=30)
        typed = [ann.code(), *ann.backup_codes][:STEPS]
        steps = [
            partial(ann.verify_login, code, token)
            for code, token in zip(typed, temp_tokens(ann), strict=True)
        ]

        answers = crowd.race(steps_and_deletion(api, root, ann, steps))

        check(answers, ann)


def test_factor_setup_during_the_deletion_of_its_user_is_not_a_5xx(root, api, crowd, ten_rounds):
    for number in ten_rounds:
        ann = Person(api, f"ann{number}@example.com").sign_up()
        steps = [partial(ann.post, "2fa/setup")] * STEPS

        answers = crowd.race(steps_and_deletion(api, root, ann, steps))

        check(answers, ann)
