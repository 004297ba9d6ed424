"""A password has one successor, whatever it is changed by."""

from functools import partial

import pytest
from django.contrib.auth import get_user_model

from authservice.core.credentials import one_time
from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.users import lookup
from tests.client import PASSWORD
from tests.races.crowd import tally


@pytest.fixture
def person(api, crowd):
    """Somebody new for each round."""

    def make(number):
        # Whose answer is a challenge where everybody needs a second factor.
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


def opened_by(api, email, passwords):
    tries = [api.post("login", email=email, password=password) for password in passwords]
    return [answer.status for answer in tries].count(200)


def test_of_several_reset_links_at_once_one_works(crowd, api, rounds, person):
    for number in rounds:
        ann = person(number)
        links = [with_link(ann) for _ in range(BUDGET.limit)]

        answers = crowd.race(reset(api, place, **link) for place, link in enumerate(links))

        assert tally(answers) == {200: 1, "INVALID_TOKEN": BUDGET.limit - 1}


def test_an_old_password_changes_once(crowd, api, rounds):
    for number in rounds:
        token = api.sign_up(f"ann{number}@example.com")["access_token"]

        answers = crowd.race(change(api, token, place) for place in range(BUDGET.limit))

        assert tally(answers)[200] == 1


def test_a_change_by_the_old_password_never_undoes_a_reset(crowd, api, rounds, person):
    """Who still knows the old password must not outrun the owner who just got rid of it."""
    for number in rounds:
        ann = person(number)
        token = api.log_in(ann.email)["access_token"]
        owner = reset(api, **with_link(ann))

        answers = crowd.race([*(change(api, token, n) for n in range(BUDGET.limit - 1)), owner])

        if answers[-1].status == 200:
            assert opened_by(api, ann.email, ["plum tart 0 windows"]) == 1


@pytest.fixture
def logins_beside_a_reset(crowd, api, rounds, person):
    """What logins of one person are answered at the moment of their reset.

    Both change the person, their sign-ins or challenges, and the counter of guesses at them.
    """

    def meet():
        for number in rounds:
            ann = person(number)
            log_in = partial(api.post, "login", email=ann.email, password=PASSWORD)
            owner = reset(api, **with_link(ann))

            *entered, done = crowd.race([*[log_in] * (BUDGET.limit - 1), owner])

            assert done.status == 200
            assert opened_by(api, ann.email, [PASSWORD, "plum tart 0 windows"]) == 1
            yield tally(entered)

    return meet


@pytest.mark.usefixtures("hearing")
def test_logins_beside_a_reset_are_good_or_refused(logins_beside_a_reset):
    for answers in logins_beside_a_reset():
        assert set(answers) <= {200, "INVALID_CREDENTIALS"}


def test_logins_beside_a_reset_are_challenged_or_refused(logins_beside_a_reset, configure):
    configure(TWOFACTOR={"REQUIRED": "everybody"}, THROTTLE={"ENABLED": False})

    for answers in logins_beside_a_reset():
        assert set(answers) <= {200, "INVALID_CREDENTIALS"}
