"""`SIGNUP_ENUMERATION = "hide"`: who signs up does not learn whether the address was taken."""

import dataclasses

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from authservice.kernel import messages
from tests import hashing
from tests.client import PASSWORD
from tests.contract.shapes import fits, is_refusal
from tests.recovery.flows import ANN, OTHER_PHONE, PHONE, account, deactivate, prove

pytestmark = pytest.mark.django_db

FREE = "new@example.com"
SPELLINGS = [ANN, "ANN@Example.COM", f" {ANN} "]


@pytest.fixture
def sign_up(ann, api, configure):
    """Sign up where the first user's address is taken."""
    configure(CORE={"SIGNUP_ENUMERATION": "hide"})

    def sign_up(email, **more):
        body = {"email": email, "password": PASSWORD, **more}
        return api.post("signup", headers={"X-Request-ID": "trace-1"}, **body)

    return sign_up


def told(answer):
    cookies = answer.response.cookies.output()
    return answer.status, answer.response.content, dict(answer.response.items()), cookies


def test_a_success_is_201_with_exactly_a_message(sign_up):
    answer = sign_up(FREE)

    assert answer.status == 201
    assert list(answer.body) == ["data"]
    assert fits(answer.data, {"message": str})


@pytest.mark.parametrize("taken", SPELLINGS)
def test_a_taken_address_answers_like_a_free_one_to_the_last_byte(sign_up, taken):
    assert told(sign_up(taken)) == told(sign_up(FREE))


@pytest.mark.parametrize("more", [{"username": "somebody"}, {"phone_number": OTHER_PHONE}])
def test_whatever_else_is_said(sign_up, more):
    taken = told(sign_up(ANN, **more))

    assert taken == told(sign_up(FREE, **more))


@pytest.mark.parametrize("email", [FREE, ANN])
def test_nobody_is_signed_in_and_no_device_is_known(sign_up, email):
    answer = sign_up(email)

    assert "X-Device-Token" not in answer.headers
    assert not answer.response.cookies


@pytest.mark.parametrize("email", [FREE, ANN])
def test_exactly_one_hash_is_made(sign_up, email):
    with hashing.spied() as spy:
        sign_up(email)

    assert len(spy.made) == 1


def test_the_job_is_the_same_but_for_its_target(sign_up, post):
    sign_up(FREE)
    sign_up(ANN)

    free, taken = post.jobs
    assert (free.kind, free.target, taken.target) == (messages.SIGNUP, FREE, ANN)
    assert dataclasses.replace(free, target=ANN) == taken


def test_a_taken_address_changes_nothing_of_its_account(sign_up):
    before = account().user.password
    sign_up(ANN, password="another plum tart 42", name="Eve", phone_number=OTHER_PHONE)

    assert account().user.password == before
    assert (account().name, account().phone_number) == ("", PHONE)
    assert Account.objects.count() == 1


def test_a_free_address_becomes_an_account_to_be_verified(api, flows, sign_up, post):
    sign_up(FREE)

    assert flows.click(post.token(messages.SIGNUP), FREE).status == 200
    assert api.log_in(FREE)["user"]["email_verified"] is True


def test_the_owner_of_a_proven_address_gets_a_letter_without_a_link(sign_up, post):
    prove()
    sign_up(ANN)

    letter = post.letter(messages.SIGNUP)
    assert (letter.to, set(letter.context)) == (ANN, set())


def test_the_owner_of_an_unproven_address_gets_a_link_of_their_own(sign_up, post, flows):
    sign_up(ANN)

    assert flows.click(post.token(messages.SIGNUP)).status == 200


def test_who_is_inactive_gets_no_letter(sign_up, post):
    deactivate()
    sign_up(ANN)

    assert post.letter(messages.SIGNUP) is None


def test_owners_are_not_flooded_with_letters(sign_up, post):
    for _ in range(6):
        sign_up(ANN)

    assert len(post.jobs) == 3


def test_a_taken_number_tells_nothing_of_the_address(sign_up):
    sign_up("ben@example.com", phone_number=OTHER_PHONE)

    answers = [sign_up(email, phone_number=OTHER_PHONE) for email in (FREE, ANN)]

    assert told(answers[0]) == told(answers[1])


def test_a_taken_username_tells_nothing_of_the_address(sign_up):
    sign_up("ben@example.com", username="ben")

    answers = [sign_up(email, username="ben") for email in (FREE, ANN)]

    assert told(answers[0]) == told(answers[1])


@pytest.mark.parametrize("email", [FREE, ANN])
def test_a_weak_password_is_refused_alike(sign_up, email):
    answer = sign_up(email, password="short1!")

    assert is_refusal(answer, 400, "INVALID_PASSWORD")
    assert answer.data["message"] == "password: Must have at least 8 characters."


@pytest.mark.parametrize("email", [FREE, ANN])
def test_a_closed_signup_is_closed_alike(sign_up, configure, email):
    configure(CORE={"SIGNUP_ENUMERATION": "hide", "ALLOW_SIGNUP": False})

    assert is_refusal(sign_up(email), 403, "SIGNUP_DISABLED")


@pytest.mark.skipif(
    get_user_model().get_email_field_name() == get_user_model().USERNAME_FIELD,
    reason="the host's users are named by their address",
)
def test_without_an_address_there_is_nothing_to_hide(sign_up, api):
    answer = api.post("signup", username="benjamin", password=PASSWORD)

    assert (answer.status, "access_token" in answer.data) == (201, True)
