"""`SIGNUP_ENUMERATION = "hide"`: who signs up does not learn whether the address was taken."""

import dataclasses

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account, OneTimeToken
from authservice.core.users.identifiers import phone_key
from authservice.kernel import message_queue, modules
from tests import hashing
from tests.client import PASSWORD
from tests.contract.shapes import fits, is_refusal
from tests.recovery.flows import ANN, OTHER_PHONE, PHONE, account, deactivate, prove
from tests.recovery.statements import statements

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


@pytest.fixture
def created(sign_up, post):
    """Sign up, and let the worker do its part."""

    def created(email, **more):
        sign_up(email, **more)
        return post.letter(message_queue.SIGNUP)

    return created


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
    assert (free.kind, free.target, taken.target) == (message_queue.SIGNUP, FREE, ANN)
    assert dataclasses.replace(free, target=ANN, details=taken.details) == taken
    assert set(free.details) == set(taken.details) == {"signup"}


@pytest.mark.parametrize("more", [{}, {"username": "somebody", "phone_number": OTHER_PHONE}])
def test_taken_and_free_address_cost_the_same_statements(sign_up, no_floods, more):
    sign_up("warm@example.com")
    free = statements(lambda: sign_up(FREE, **more))

    assert statements(lambda: sign_up(ANN, **more)) == free


def test_account_is_created_by_the_worker_once(sign_up, post):
    sign_up(FREE, name="Eve", username="eve")
    assert Account.objects.count() == 1
    for _ in range(2):
        assert post.letter(message_queue.SIGNUP)

    made = account(FREE)
    assert Account.objects.count() == 2
    assert (made.name, made.user.check_password(PASSWORD)) == ("Eve", True)


def test_job_delivered_again_after_the_account_was_deleted_creates_nothing(sign_up, post):
    sign_up(FREE)
    post.letter(message_queue.SIGNUP)
    account(FREE).user.delete()

    post.letter(message_queue.SIGNUP)

    assert Account.objects.count() == 1


def test_neither_job_nor_row_shows_what_was_asked_for(sign_up, post):
    sign_up(FREE, name="Eve Adams", phone_number=OTHER_PHONE)

    shown = f"{post.jobs} {list(OneTimeToken.objects.values())}"
    for secret in (PASSWORD, "Eve Adams", OTHER_PHONE, "argon2", "md5$"):
        assert secret not in shown


def test_sign_up_is_recorded_with_the_client_that_asked(sign_up, post):
    events = []
    sign_up(FREE)
    with modules.plugged("event_listener", events.append):
        post.letter(message_queue.SIGNUP)

    [event] = [event for event in events if event.action == "auth.signup"]
    assert (event.client.address, event.client.request_id) == ("127.0.0.1", "trace-1")


def test_number_that_was_taken_since_the_request_is_left_out(sign_up, post):
    sign_up(FREE, phone_number=OTHER_PHONE)
    Account.objects.update(phone_number=OTHER_PHONE, phone_key=phone_key(OTHER_PHONE))

    assert post.letter(message_queue.SIGNUP)
    assert account(FREE).phone_number == ""


def test_address_that_was_taken_since_the_request_changes_nothing(sign_up, api, configure, post):
    sign_up(FREE, name="Eve")
    configure(CORE={})
    api.sign_up(FREE)
    before = account(FREE).user.password

    assert post.letter(message_queue.SIGNUP)
    assert (account(FREE).user.password, account(FREE).name) == (before, "")


def test_job_that_comes_after_a_day_creates_nothing(sign_up, post, clock):
    sign_up(FREE)
    clock.forward(days=1)

    assert post.letter(message_queue.SIGNUP) is None
    assert Account.objects.count() == 1


def test_sign_up_under_a_secret_key_that_is_gone_creates_nothing(sign_up, post, settings, caplog):
    sign_up(FREE)
    settings.SECRET_KEY = "another secret of the tests, long enough to be a key"

    assert post.letter(message_queue.SIGNUP) is None
    assert "cannot be decrypted with any configured key" in caplog.text


def test_without_a_worker_the_request_creates_the_account(sign_up, api):
    with modules.plugged("messenger", None):
        assert sign_up(FREE).status == 201

    assert api.log_in(FREE)


def test_a_taken_address_changes_nothing_of_its_account(sign_up):
    before = account().user.password
    sign_up(ANN, password="another plum tart 42", name="Eve", phone_number=OTHER_PHONE)

    assert account().user.password == before
    assert (account().name, account().phone_number) == ("", PHONE)
    assert Account.objects.count() == 1


def test_a_free_address_becomes_an_account_to_be_verified(api, flows, sign_up, post):
    sign_up(FREE)

    assert flows.click(post.token(message_queue.SIGNUP), FREE).status == 200
    assert api.log_in(FREE)["user"]["email_verified"] is True


def test_the_owner_of_a_proven_address_gets_a_letter_without_a_link(sign_up, post):
    prove()
    sign_up(ANN)

    letter = post.letter(message_queue.SIGNUP)
    assert (letter.to, set(letter.context)) == (ANN, set())


def test_who_is_inactive_gets_no_letter(sign_up, post):
    deactivate()
    sign_up(ANN)

    assert post.letter(message_queue.SIGNUP) is None


def test_owners_are_not_flooded_with_letters(sign_up, post):
    for _ in range(6):
        sign_up(ANN)

    assert len(post.jobs) == 3


def test_a_taken_number_tells_nothing_of_the_address(sign_up, created):
    created("ben@example.com", phone_number=OTHER_PHONE)

    answers = [sign_up(email, phone_number=OTHER_PHONE) for email in (FREE, ANN)]

    assert answers[0].code == "PHONE_ALREADY_IN_USE"
    assert told(answers[0]) == told(answers[1])


def test_a_taken_username_tells_nothing_of_the_address(sign_up, created):
    created("ben@example.com", username="ben")

    answers = [sign_up(email, username="ben") for email in (FREE, ANN)]

    assert answers[0].code == "USERNAME_ALREADY_EXISTS"
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
