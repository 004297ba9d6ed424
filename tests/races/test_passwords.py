"""Concurrent changes of a password: exactly one succeeds."""

from functools import partial

import pytest
from django.contrib.auth import get_user_model

from authservice.core.credentials import one_time
from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.users import lookup
from tests.races.crowd import tally
from tests.support.client import PASSWORD


@pytest.fixture
def person(api, crowd):
    """Create a new user for each round."""

    def make(number):
        # The response is a challenge if a second factor is required.
        api.post("signup", email=f"ann{number}@example.com", password=PASSWORD)
        return lookup.get_person(get_user_model().objects.get(email=f"ann{number}@example.com"))

    return make


def reset(api, number=0, **secret):
    body = {"new_password": f"plum tart {number} windows", **secret}
    return partial(api.request, "POST", "reset-password", body)


def with_link(person):
    token = one_time.issue_link(one_time.RESET, person, person.email_key)
    return {"email": person.email, "token": token}


def change(api, access_token, number):
    body = {"old_password": PASSWORD, "new_password": f"plum cake {number} windows"}
    return partial(api.request, "PUT", "change-password", body, token=access_token)


def accepted(api, email, passwords):
    """How many of these passwords are accepted at a login."""
    logins = [api.post("login", email=email, password=password) for password in passwords]
    return [answer.status for answer in logins].count(200)


def test_one_of_several_parallel_reset_links_works(crowd, api, rounds, person):
    for number in rounds:
        ann = person(number)
        links = [with_link(ann) for _ in range(BUDGET.limit)]

        answers = crowd.race(reset(api, place, **link) for place, link in enumerate(links))

        assert tally(answers) == {200: 1, "INVALID_TOKEN": BUDGET.limit - 1}


def test_one_of_several_parallel_password_changes_works(crowd, api, rounds):
    for number in rounds:
        token = api.sign_up(f"ann{number}@example.com")["access_token"]

        answers = crowd.race(change(api, token, place) for place in range(BUDGET.limit))

        assert tally(answers)[200] == 1


def test_password_change_with_old_password_never_undoes_a_reset(crowd, api, rounds, person):
    """An attacker with the old password must not undo the reset of the owner."""
    for number in rounds:
        ann = person(number)
        token = api.log_in(ann.email)["access_token"]
        owner = reset(api, **with_link(ann))

        answers = crowd.race([*(change(api, token, n) for n in range(BUDGET.limit - 1)), owner])

        if answers[-1].status == 200:
            assert accepted(api, ann.email, ["plum tart 0 windows"]) == 1


@pytest.fixture
def logins_during_a_reset(crowd, api, rounds, person):
    """Yields the tally of each round of logins of a user during a password reset.

    Both change the user, the sessions or challenges, and the counter of attempts.
    """

    def run():
        for number in rounds:
            ann = person(number)
            log_in = partial(api.post, "login", email=ann.email, password=PASSWORD)
            owner = reset(api, **with_link(ann))

            # Two attempts remain for `accepted`, even if each of these logins is refused.
            *logins, owners_reset = crowd.race([*[log_in] * (BUDGET.limit - 2), owner])

            assert owners_reset.status == 200
            assert accepted(api, ann.email, [PASSWORD, "plum tart 0 windows"]) == 1
            yield tally(logins)

    return run


@pytest.mark.usefixtures("login_receivers")
def test_logins_during_a_reset_succeed_or_are_refused(logins_during_a_reset):
    for answers in logins_during_a_reset():
        assert set(answers) <= {200, "INVALID_CREDENTIALS"}


def test_logins_during_a_reset_are_challenged_or_refused(logins_during_a_reset, configure):
    configure(TWOFACTOR={"REQUIRED": "everybody"}, THROTTLE={"ENABLED": False})

    for answers in logins_during_a_reset():
        assert set(answers) <= {200, "INVALID_CREDENTIALS"}
