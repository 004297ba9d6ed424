"""POST /reset-password with the token of a mailed link."""

import pytest

from authservice.core.models import Session
from authservice.kernel import message_queue
from tests.client import PASSWORD
from tests.contract.shapes import is_refusal
from tests.recovery.flows import ANN, NEW, PHONE, account, deactivate

pytestmark = pytest.mark.django_db

BEN = "ben@example.com"
INVALID = (400, "INVALID_TOKEN")


@pytest.fixture
def token(ann, flows):
    return flows.reset_token()


def test_a_success_is_200_with_exactly_a_message(flows, token):
    answer = flows.reset(token)

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert list(answer.data) == ["message"]


def test_the_new_password_opens_and_the_old_one_does_not(api, flows, token):
    flows.reset(token)

    assert api.post("login", email=ANN, password=PASSWORD).error == (401, "INVALID_CREDENTIALS")
    assert api.post("login", email=ANN, password=NEW).status == 200


def test_every_sign_in_ends(api, flows, ann, token):
    sessions = [ann, api.log_in()]

    flows.reset(token)

    assert {api.get("me", token=one["access_token"]).error for one in sessions} == {
        (401, "INVALID_TOKEN")
    }
    assert {api.post("refresh", refresh_token=one["refresh_token"]).error for one in sessions} == {
        (401, "INVALID_REFRESH_TOKEN")
    }


def test_every_sign_in_ends_even_where_the_password_stays_the_same(api, flows, ann, token):
    flows.reset(token, new_password=PASSWORD)

    assert api.get("me", token=ann["access_token"]).error == (401, "INVALID_TOKEN")


def test_no_sign_in_is_left_open_behind_its_tokens(api, flows, ann, token):
    api.log_in()

    flows.reset(token)

    assert not Session.objects.filter(ended_at=None).exists()
    assert account().token_version == 1


def test_other_people_are_not_touched_by_it(api, flows, token):
    other = api.sign_up(BEN)["access_token"]

    flows.reset(token)

    assert api.get("me", token=other).status == 200


def test_the_owner_hears_of_it(flows, post, token):
    post.jobs.clear()

    flows.reset(token)

    assert [(job.kind, job.target) for job in post.jobs] == [
        (message_queue.ACCESS_REMOVED, ANN),
        (message_queue.PASSWORD_CHANGED, ANN),
    ]


def test_a_link_works_once(flows, token):
    flows.reset(token)

    assert is_refusal(flows.reset(token), *INVALID)


def test_a_link_used_once_ends_every_other(flows, token):
    other = flows.reset_token()
    flows.reset(token)

    assert flows.reset(other).error == INVALID


def test_an_older_link_serves_as_long_as_no_other_was_used(flows, token):
    flows.reset_token()

    assert flows.reset(token).status == 200


def test_a_link_serves_for_an_hour(clock, api, flows):
    api.sign_up()
    token = flows.reset_token()
    clock.forward(minutes=59, seconds=59)

    assert flows.reset(token).status == 200


def test_after_an_hour_it_is_token_expired(clock, api, flows):
    api.sign_up()
    token = flows.reset_token()
    clock.forward(hours=1)

    assert is_refusal(flows.reset(token), 400, "TOKEN_EXPIRED")


def test_wrong_unknown_and_other_address_answer_alike(api, flows, token):
    api.sign_up(BEN)

    answers = [
        flows.reset("A" * 43),
        flows.reset(token[:-1]),
        flows.reset(token + "A"),
        flows.reset(token.swapcase()),
        flows.reset(token, email=BEN),
        flows.reset(token, email="nobody@example.com"),
        flows.reset(token, email="nobody"),
    ]

    assert is_refusal(answers[0], *INVALID)
    assert {answer.response.content for answer in answers} == {answers[0].response.content}


def test_a_refused_address_spends_nothing(flows, token):
    flows.reset(token, email=BEN)

    assert flows.reset(token).status == 200


@pytest.mark.parametrize("email", ["ANN@Example.COM", f"  {ANN} "])
def test_the_address_is_compared_as_ever(flows, token, email):
    assert flows.reset(token, email=email).status == 200


@pytest.mark.parametrize("more", [{"phone": PHONE}, {"code": ""}, {"phone": "", "unknown": 7}])
def test_what_belongs_to_a_code_does_not_matter_beside_a_token(flows, token, more):
    assert flows.reset(token, **more).status == 200


def test_a_weak_password_is_invalid_password_by_the_name_of_its_field(flows, token):
    answer = flows.reset(token, new_password="short1!")

    assert is_refusal(answer, 400, "INVALID_PASSWORD")
    assert answer.data["message"] == "new_password: Must have at least 8 characters."


def test_a_refused_password_spends_nothing(flows, token):
    for weak in ("short1!", "12345678", "password"):
        assert flows.reset(token, new_password=weak).error == (400, "INVALID_PASSWORD")

    assert flows.reset(token).status == 200


def test_a_refused_password_ends_no_sign_in(api, flows, ann, token):
    flows.reset(token, new_password="short1!")

    assert api.get("me", token=ann["access_token"]).status == 200


def test_who_has_no_link_does_not_learn_the_policy(flows):
    assert flows.reset("A" * 43, new_password="short1!").error == INVALID


def test_a_link_of_somebody_who_is_inactive_by_now_is_invalid(flows, token):
    deactivate()

    assert flows.reset(token).error == INVALID


def test_nobody_who_is_inactive_gets_a_letter(ann, api, post):
    deactivate()
    api.post("forgot-password", email=ANN)

    assert post.letter(message_queue.RESET_BY_LINK) is None


def test_an_account_without_a_password_gets_one(api, ann, flows):
    user = account().user
    user.set_unusable_password()
    user.save()

    assert flows.reset(flows.reset_token()).status == 200
    assert api.post("login", email=ANN, password=NEW).status == 200


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"email": ""}, "email: This field is required."),
        ({"token": ""}, "token: Exactly one of token and code is required."),
        ({"code": "123456"}, "token: Exactly one of token and code is required."),
        ({"code": "12345"}, "code: Must be exactly 6 digits."),
        ({"token": "A" * 513}, "token: Ensure this field has no more than 512 characters."),
        ({"email": "a" * 255}, "email: Ensure this field has no more than 254 characters."),
        ({"new_password": ""}, "new_password: This field may not be blank."),
        ({"new_password": "x" * 4097}, "new_password: Must not exceed 4096 bytes."),
    ],
)
def test_a_broken_rule_is_a_validation_error_that_names_field_and_rule(
    flows, token, change, message
):
    answer = flows.reset(**{"token": token, **change})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == message


@pytest.mark.parametrize("absent", ["token", "email", "new_password"])
def test_what_is_missing_is_a_validation_error(api, token, absent):
    body = {"token": token, "email": ANN, "new_password": NEW}
    del body[absent]

    answer = api.request("POST", "reset-password", body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith(f"{absent}: ")


def test_where_the_host_says_so_the_address_may_be_left_out(flows, token, configure):
    configure(CORE={"RESET_REQUIRES_EMAIL": False})

    assert flows.reset(token, email="").status == 200


def test_an_address_that_is_sent_is_checked_there_too(flows, token, configure):
    configure(CORE={"RESET_REQUIRES_EMAIL": False})

    assert flows.reset(token, email=BEN).error == INVALID
