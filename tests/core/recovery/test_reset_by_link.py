"""POST /reset-password with the token of a mailed link."""

import pytest

from authservice.core.messages import kinds
from authservice.core.models import Session
from tests.contract.shapes import is_refusal
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, PHONE, account, deactivate

pytestmark = pytest.mark.django_db

BEN = "ben@example.com"
INVALID = (400, "INVALID_TOKEN")


@pytest.fixture
def token(ann, flows):
    return flows.reset_token()


def test_success_returns_200_with_a_message_only(flows, token):
    answer = flows.reset(token)

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert list(answer.data) == ["message"]


def test_new_password_is_accepted_and_the_old_one_refused(api, flows, token):
    flows.reset(token)

    assert api.post("login", email=ANN, password=PASSWORD).error == (401, "INVALID_CREDENTIALS")
    assert api.post("login", email=ANN, password=NEW).status == 200


def test_reset_ends_every_session(api, flows, ann, token):
    sessions = [ann, api.log_in()]

    flows.reset(token)

    assert {api.get("me", token=one["access_token"]).error for one in sessions} == {
        (401, "INVALID_TOKEN")
    }
    assert {api.post("refresh", refresh_token=one["refresh_token"]).error for one in sessions} == {
        (401, "INVALID_REFRESH_TOKEN")
    }


def test_reset_to_the_same_password_ends_every_session_too(api, flows, ann, token):
    flows.reset(token, new_password=PASSWORD)

    assert api.get("me", token=ann["access_token"]).error == (401, "INVALID_TOKEN")


def test_reset_ends_the_rows_of_sessions_and_changes_the_token_version(api, flows, ann, token):
    api.log_in()

    flows.reset(token)

    assert not Session.objects.filter(ended_at=None).exists()
    assert account().token_version == 1


def test_reset_ends_no_session_of_another_user(api, flows, token):
    other = api.sign_up(BEN)["access_token"]

    flows.reset(token)

    assert api.get("me", token=other).status == 200


def test_reset_notifies_the_owner(flows, post, token):
    post.jobs.clear()

    flows.reset(token)

    assert [(job.kind, job.target) for job in post.jobs] == [
        (kinds.ACCESS_REMOVED, ANN),
        (kinds.PASSWORD_CHANGED, ANN),
    ]


def test_link_works_once(flows, token):
    flows.reset(token)

    assert is_refusal(flows.reset(token), *INVALID)


def test_used_link_ends_every_other_link(flows, token):
    other = flows.reset_token()
    flows.reset(token)

    assert flows.reset(other).error == INVALID


def test_older_link_is_valid_until_another_one_is_used(flows, token):
    flows.reset_token()

    assert flows.reset(token).status == 200


def test_link_is_valid_for_an_hour(clock, api, flows):
    api.sign_up()
    token = flows.reset_token()
    clock.forward(minutes=59, seconds=59)

    assert flows.reset(token).status == 200


def test_link_is_token_expired_after_an_hour(clock, api, flows):
    api.sign_up()
    token = flows.reset_token()
    clock.forward(hours=1)

    assert is_refusal(flows.reset(token), 400, "TOKEN_EXPIRED")


def test_wrong_token_unknown_address_and_other_address_get_the_same_response(api, flows, token):
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


def test_expired_link_with_another_address_is_refused_as_an_unknown_one(clock, api, flows):
    api.sign_up()
    token = flows.reset_token()
    clock.forward(hours=1)

    answer, unknown = flows.reset(token, email=BEN), flows.reset("A" * 43, email=BEN)

    assert is_refusal(answer, 400, "INVALID_TOKEN")
    assert answer.response.content == unknown.response.content


def test_expired_link_without_an_address_is_token_expired_if_the_host_allows_it(
    clock, api, flows, configure
):
    configure(CORE={"RESET_REQUIRES_EMAIL": False})
    api.sign_up()
    token = flows.reset_token()
    clock.forward(hours=1)

    assert is_refusal(flows.reset(token, email=""), 400, "TOKEN_EXPIRED")


def test_refused_address_does_not_use_the_link(flows, token):
    flows.reset(token, email=BEN)

    assert flows.reset(token).status == 200


@pytest.mark.parametrize("email", ["ANN@Example.COM", f"  {ANN} "])
def test_address_is_compared_without_case_and_spaces(flows, token, email):
    assert flows.reset(token, email=email).status == 200


@pytest.mark.parametrize("more", [{"phone": PHONE}, {"code": ""}, {"phone": "", "unknown": 7}])
def test_fields_of_a_code_are_ignored_beside_a_token(flows, token, more):
    assert flows.reset(token, **more).status == 200


def test_weak_password_is_invalid_password_with_the_name_of_its_field(flows, token):
    answer = flows.reset(token, new_password="short1!")

    assert is_refusal(answer, 400, "INVALID_PASSWORD")
    assert answer.data["message"] == "new_password: Must have at least 8 characters."


def test_refused_password_does_not_use_the_link(flows, token):
    for weak in ("short1!", "12345678", "password"):
        assert flows.reset(token, new_password=weak).error == (400, "INVALID_PASSWORD")

    assert flows.reset(token).status == 200


def test_refused_password_ends_no_session(api, flows, ann, token):
    flows.reset(token, new_password="short1!")

    assert api.get("me", token=ann["access_token"]).status == 200


def test_invalid_link_does_not_reveal_the_password_policy(flows):
    assert flows.reset("A" * 43, new_password="short1!").error == INVALID


def test_link_of_a_user_deactivated_meanwhile_is_invalid(flows, token):
    deactivate()

    assert flows.reset(token).error == INVALID


def test_inactive_user_gets_no_reset_email(ann, api, post):
    deactivate()
    api.post("forgot-password", email=ANN)

    assert post.outgoing(kinds.RESET_BY_LINK) is None


def test_account_without_a_password_can_set_one_by_reset(api, ann, flows):
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
def test_invalid_field_is_a_validation_error_that_names_field_and_rule(
    flows, token, change, message
):
    answer = flows.reset(**{"token": token, **change})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == message


@pytest.mark.parametrize("absent", ["token", "email", "new_password"])
def test_missing_field_is_a_validation_error(api, token, absent):
    body = {"token": token, "email": ANN, "new_password": NEW}
    del body[absent]

    answer = api.request("POST", "reset-password", body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith(f"{absent}: ")


def test_address_may_be_omitted_if_the_host_allows_it(flows, token, configure):
    configure(CORE={"RESET_REQUIRES_EMAIL": False})

    assert flows.reset(token, email="").status == 200


def test_address_that_is_sent_is_checked_even_if_it_may_be_omitted(flows, token, configure):
    configure(CORE={"RESET_REQUIRES_EMAIL": False})

    assert flows.reset(token, email=BEN).error == INVALID
