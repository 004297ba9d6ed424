"""`SIGNUP_ENUMERATION = "hide"`: a sign-up does not reveal whether the address is taken."""

import dataclasses
import json
import re

import pytest
from django.contrib.auth import get_user_model

from authservice.core.messages import kinds
from authservice.core.models import Account, OneTimeToken
from authservice.core.users.identifiers import phone_key
from authservice.kernel import modules
from authservice.kernel.secret import seal, unseal
from tests.contract.shapes import fits, is_refusal
from tests.support import hashing, triggers
from tests.support.client import PASSWORD
from tests.support.flows import ANN, OTHER_PHONE, PHONE, account, deactivate, prove
from tests.support.people import make_user
from tests.support.slots import listening
from tests.support.statements import statements

pytestmark = pytest.mark.django_db
_triggers = triggers.of(get_user_model())

FREE = "new@example.com"
VARIANTS = [ANN, "ANN@Example.COM", f" {ANN} "]


@pytest.fixture
def sign_up(ann, api, configure):
    """Sign up while the first user's address is taken."""
    configure(CORE={"SIGNUP_ENUMERATION": "hide"})

    def sign_up(email, **more):
        body = {"email": email, "password": PASSWORD, **more}
        return api.post("signup", headers={"X-Request-ID": "trace-1"}, **body)

    return sign_up


@pytest.fixture
def created(sign_up, post):
    """Sign up and run the job of the worker; returns the message that it sends."""

    def created(email, **more):
        sign_up(email, **more)
        return post.outgoing(kinds.SIGNUP)

    return created


def verified_by_another(number):
    """The account that is there already verifies the number."""
    key = phone_key(number)
    Account.objects.update(phone_number=number, phone_key=key, verified_phone_key=key)


def visible(answer):
    cookies = answer.response.cookies.output()
    return answer.status, answer.response.content, dict(answer.response.items()), cookies


def test_hidden_signup_success_is_201_with_status_and_message_only(sign_up):
    answer = sign_up(FREE)

    assert answer.status == 201
    assert list(answer.body) == ["data"]
    assert fits(answer.data, {"status": re.compile("sent"), "message": str})


@pytest.mark.parametrize("taken", VARIANTS)
def test_hidden_signup_answers_byte_for_byte_alike_for_taken_and_free_address(sign_up, taken):
    assert visible(sign_up(taken)) == visible(sign_up(FREE))


@pytest.mark.parametrize("more", [{"username": "somebody"}, {"phone_number": OTHER_PHONE}])
def test_hidden_signup_with_username_or_number_answers_alike(sign_up, more):
    taken = visible(sign_up(ANN, **more))

    assert taken == visible(sign_up(FREE, **more))


@pytest.mark.parametrize("email", [FREE, ANN])
def test_hidden_signup_issues_no_token_and_no_cookie(sign_up, email):
    answer = sign_up(email)

    assert "X-Device-Token" not in answer.headers
    assert not answer.response.cookies


@pytest.mark.parametrize("email", [FREE, ANN])
def test_hidden_signup_makes_exactly_one_hash(sign_up, email):
    with hashing.spied() as spy:
        sign_up(email)

    assert len(spy.made) == 1


def test_hidden_signup_jobs_differ_only_in_their_target(sign_up, post):
    sign_up(FREE)
    sign_up(ANN)

    free, taken = post.jobs
    assert (free.kind, free.target, taken.target) == (kinds.SIGNUP, FREE, ANN)
    assert dataclasses.replace(free, target=ANN, details=taken.details) == taken
    assert set(free.details) == set(taken.details) == {"signup"}


@pytest.mark.parametrize("more", [{}, {"username": "somebody", "phone_number": OTHER_PHONE}])
def test_hidden_signup_costs_the_same_statements_for_taken_and_free_address(
    sign_up, no_floods, more
):
    sign_up("warm@example.com")
    free = statements(lambda: sign_up(FREE, **more))

    assert statements(lambda: sign_up(ANN, **more)) == free


def test_hidden_signup_account_is_created_once_by_the_worker(sign_up, post):
    sign_up(FREE, name="Eve", username="eve")
    assert Account.objects.count() == 1
    for _ in range(2):
        assert post.outgoing(kinds.SIGNUP)

    made = account(FREE)
    assert Account.objects.count() == 2
    assert (made.name, made.user.check_password(PASSWORD)) == ("Eve", True)


def test_hidden_signup_job_repeated_after_the_account_was_deleted_creates_nothing(sign_up, post):
    sign_up(FREE)
    post.outgoing(kinds.SIGNUP)
    account(FREE).user.delete()

    post.outgoing(kinds.SIGNUP)

    assert Account.objects.count() == 1


def test_hidden_signup_job_and_row_do_not_contain_the_submitted_values(sign_up, post):
    sign_up(FREE, name="Eve Adams", phone_number=OTHER_PHONE)

    shown = f"{post.jobs} {list(OneTimeToken.objects.values())}"
    for secret in (PASSWORD, "Eve Adams", OTHER_PHONE, "argon2", "md5$"):
        assert secret not in shown


def test_hidden_signup_is_recorded_with_the_client_of_the_request(sign_up, post):
    events = []
    sign_up(FREE)
    with listening(events.append):
        post.outgoing(kinds.SIGNUP)

    [event] = [event for event in events if event.action == "auth.signup"]
    assert (event.client.address, event.client.request_id) == ("127.0.0.1", "trace-1")


def test_hidden_signup_omits_a_number_taken_since_the_request(sign_up, post):
    sign_up(FREE, phone_number=OTHER_PHONE)
    verified_by_another(OTHER_PHONE)

    assert post.outgoing(kinds.SIGNUP)
    assert account(FREE).phone_number == ""


def test_hidden_signup_changes_nothing_if_the_address_was_taken_meanwhile(
    sign_up, api, configure, post
):
    sign_up(FREE, name="Eve")
    configure(CORE={})
    api.sign_up(FREE)
    before = account(FREE).user.password

    assert post.outgoing(kinds.SIGNUP)
    assert (account(FREE).user.password, account(FREE).name) == (before, "")


def test_hidden_signup_job_delivered_after_a_day_creates_nothing(sign_up, post, clock):
    sign_up(FREE)
    clock.forward(days=1)

    assert post.outgoing(kinds.SIGNUP) is None
    assert Account.objects.count() == 1


def test_hidden_signup_encrypted_with_a_removed_secret_key_creates_nothing(
    sign_up, post, settings, caplog
):
    sign_up(FREE)
    settings.SECRET_KEY = "another secret of the tests, long enough to be a key"

    assert post.outgoing(kinds.SIGNUP) is None
    assert "cannot be decrypted with any configured key" in caplog.text


def take_address(sealed, settings):
    make_user(FREE)


def refuse_users(sealed, settings):
    triggers.refuse(get_user_model())


def remove_key(sealed, settings):
    settings.SECRET_KEY = "another secret of the tests, long enough to be a key"


def give_wrong_value(sealed, settings):
    sealed(password={"password": "md5$", get_user_model()._meta.pk.name: "not a number"})


def remove_column(sealed, settings):
    sealed(password={"password": "md5$", "removed": 1})


@pytest.fixture
def sealed():
    """`sealed(**changed)` changes the stored data of the only sign-up."""

    def change(**changed):
        row = OneTimeToken.objects.get(purpose="pending-signup")
        kept = json.loads(unseal("pending-signup", row.payload["sealed"]))
        row.payload = {"sealed": seal("pending-signup", json.dumps(kept | changed))}
        row.save()

    return change


@pytest.mark.parametrize(
    "end",
    [
        take_address,
        refuse_users,
        remove_key,
        give_wrong_value,
        remove_column,
    ],
)
def test_hidden_signup_that_creates_nothing_keeps_no_data(sign_up, post, sealed, settings, end):
    sign_up(FREE)
    end(sealed, settings)
    before = Account.objects.count()

    for _ in range(2):  # a repeated job does the same
        post.outgoing(kinds.SIGNUP)

    assert Account.objects.count() == before
    assert OneTimeToken.objects.get(purpose="pending-signup").payload == {}


def test_hidden_signup_without_a_worker_creates_the_account_in_the_request(sign_up, api):
    with modules.plugged("messenger", None):
        assert sign_up(FREE).status == 201

    assert api.log_in(FREE)


def test_hidden_signup_with_a_taken_address_does_not_change_its_account(sign_up):
    before = account().user.password
    sign_up(ANN, password="another plum tart 42", name="Eve", phone_number=OTHER_PHONE)

    assert account().user.password == before
    assert (account().name, account().phone_number) == ("", PHONE)
    assert Account.objects.count() == 1


def test_hidden_signup_with_a_free_address_creates_an_account_to_verify(api, flows, sign_up, post):
    sign_up(FREE)

    assert flows.click(post.token(kinds.SIGNUP), FREE).status == 200
    assert api.log_in(FREE)["user"]["email_verified"] is True


def test_hidden_signup_sends_the_owner_of_a_verified_address_no_link(sign_up, post):
    prove()
    sign_up(ANN)

    message = post.outgoing(kinds.SIGNUP)
    assert (message.to, set(message.context)) == (ANN, set())


def test_hidden_signup_sends_an_inactive_user_nothing(sign_up, post):
    deactivate()
    sign_up(ANN)

    assert post.outgoing(kinds.SIGNUP) is None


def test_hidden_signup_sends_an_owner_at_most_three_messages(sign_up, post):
    for _ in range(6):
        sign_up(ANN)

    assert len(post.jobs) == 3


def test_hidden_signup_refuses_a_taken_number_alike_for_every_address(sign_up):
    verified_by_another(OTHER_PHONE)

    answers = [sign_up(email, phone_number=OTHER_PHONE) for email in (FREE, ANN)]

    assert answers[0].code == "PHONE_ALREADY_IN_USE"
    assert visible(answers[0]) == visible(answers[1])


def test_hidden_signup_refuses_a_taken_username_alike_for_every_address(sign_up, created):
    created("ben@example.com", username="ben")

    answers = [sign_up(email, username="ben") for email in (FREE, ANN)]

    assert answers[0].code == "USERNAME_ALREADY_EXISTS"
    assert visible(answers[0]) == visible(answers[1])


@pytest.mark.parametrize("email", [FREE, ANN])
def test_hidden_signup_refuses_a_weak_password_alike_for_every_address(sign_up, email):
    answer = sign_up(email, password="short1!")

    assert is_refusal(answer, 400, "INVALID_PASSWORD")
    assert answer.data["message"] == "password: Must have at least 8 characters."


@pytest.mark.parametrize("email", [FREE, ANN])
def test_hidden_signup_when_disabled_is_refused_alike_for_every_address(sign_up, configure, email):
    configure(CORE={"SIGNUP_ENUMERATION": "hide", "ALLOW_SIGNUP": False})

    assert is_refusal(sign_up(email), 403, "SIGNUP_DISABLED")


@pytest.mark.skipif(
    get_user_model().get_email_field_name() == get_user_model().USERNAME_FIELD,
    reason="the host's users are named by their address",
)
def test_hidden_signup_without_an_address_returns_tokens(sign_up, api):
    answer = api.post("signup", username="benjamin", password=PASSWORD)

    assert (answer.status, "access_token" in answer.data) == (201, True)
