"""A one-time secret works once, and a password has one successor."""

from functools import partial

import pytest
from django.contrib.auth import get_user_model

from authservice.core import directory, tickets
from authservice.core.attempts import PASSWORD as BUDGET
from authservice.core.models import Account, Ticket
from tests.client import PASSWORD
from tests.races.crowd import SIZE, tally

PHONE = "+4930123456"


@pytest.fixture
def person(api, crowd):
    """Somebody whose number is verified; the others of a round are made anew."""

    def make(number):
        phone = f"{PHONE}{number}"
        api.sign_up(f"ann{number}@example.com", phone_number=phone)
        key = Account.objects.get(phone_number=phone).phone_key
        Account.objects.filter(phone_key=key).update(verified_phone_key=key)
        return directory.of(get_user_model().objects.get(email=f"ann{number}@example.com"))

    return make


def reset(api, number=0, **secret):
    body = {"new_password": f"plum tart {number} windows", **secret}
    return partial(api.request, "POST", "reset-password", body)


def with_link(person):
    token = tickets.mint_link(tickets.RESET, person, person.email_key)
    return {"email": person.email, "token": token}


def with_code(person):
    code = tickets.mint_code(tickets.RESET, person, person.phone_key)
    return {"phone": person.account.phone_number, "code": code}


def other_than(code):
    return f"{(int(code) + 1) % 10**6:06d}"


def change(api, access_token, number):
    body = {"old_password": PASSWORD, "new_password": f"plum cake {number} windows"}
    return partial(api.request, "PUT", "change-password", body, token=access_token)


def opened_by(api, email, passwords):
    tries = [api.post("login", email=email, password=password) for password in passwords]
    return [answer.status for answer in tries].count(200)


def test_a_reset_link_works_once(crowd, api, rounds, person):
    for number in rounds:
        link = with_link(person(number))

        answers = crowd.race(reset(api, place, **link) for place in range(SIZE))

        assert tally(answers) == {200: 1, "INVALID_TOKEN": SIZE - 1}


def test_a_reset_code_works_once(crowd, api, rounds, person):
    for number in rounds:
        code = with_code(person(number))

        answers = crowd.race(reset(api, place, **code) for place in range(tickets.TRIES))

        assert tally(answers) == {200: 1, "INVALID_VERIFICATION_CODE": tickets.TRIES - 1}


def test_of_several_reset_links_at_once_one_works(crowd, api, rounds, person):
    for number in rounds:
        ann = person(number)
        links = [with_link(ann) for _ in range(BUDGET.limit)]

        answers = crowd.race(reset(api, place, **link) for place, link in enumerate(links))

        assert tally(answers) == {200: 1, "INVALID_TOKEN": BUDGET.limit - 1}


def test_of_many_codes_at_once_the_budget_is_judged(crowd, api, rounds, person):
    for number in rounds:
        ann = person(number)
        given = with_code(ann)
        wrong = {**given, "code": other_than(given["code"])}

        crowd.all_do(reset(api, **wrong))

        assert Ticket.objects.get(user=ann.user.pk).attempts == tickets.TRIES


def test_a_right_code_after_many_wrong_ones_at_once_is_refused(crowd, api, rounds, person):
    for number in rounds:
        ann = person(number)
        given = with_code(ann)
        crowd.all_do(reset(api, **{**given, "code": other_than(given["code"])}))

        assert reset(api, **given)().code == "INVALID_VERIFICATION_CODE"


def test_a_verification_code_works_once(crowd, api, rounds, person):
    for number in rounds:
        ann = person(number)
        code = tickets.mint_code(tickets.VERIFY_PHONE, ann, ann.phone_key)
        body = {"phone": ann.account.phone_number, "code": code}

        answers = crowd.race([partial(api.post, "verify-phone", **body)] * tickets.TRIES)

        assert tally(answers) == {200: 1, "INVALID_VERIFICATION_CODE": tickets.TRIES - 1}


def test_a_link_that_verifies_says_so_to_every_click(crowd, api, rounds, person):
    for number in rounds:
        ann = person(number)
        token = tickets.mint_link(tickets.VERIFY_EMAIL, ann, ann.email_key)

        answers = crowd.all_do(
            partial(api.get, f"verify-email?token={token}&email={ann.email}"),
        )

        assert tally(answers) == {200: SIZE}


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


def test_a_number_is_taken_once_by_those_who_are_there(crowd, api, rounds):
    tokens = [api.sign_up(f"ann{place}@example.com")["access_token"] for place in range(SIZE)]
    for number in rounds:
        body = {"phone": f"{PHONE}{number}"}

        answers = crowd.race(
            partial(api.request, "PUT", "profile", body, token=token) for token in tokens
        )

        assert tally(answers) == {200: 1, "PHONE_ALREADY_IN_USE": SIZE - 1}
