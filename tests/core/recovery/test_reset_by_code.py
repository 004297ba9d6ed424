"""POST /reset-password with a code sent by SMS to a verified number."""

from time import monotonic

import pytest

from authservice.core.credentials import passwords
from authservice.core.messages import kinds
from authservice.core.models import Account
from authservice.kernel import clock as readings
from tests.contract.shapes import is_refusal
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, OTHER_PHONE, PHONE, deactivate, prove, wrong

pytestmark = pytest.mark.django_db

INVALID = (400, "INVALID_VERIFICATION_CODE")


@pytest.fixture
def code(proven, flows):
    return flows.reset_code()


def test_success_returns_200_with_a_message_only(flows, code):
    answer = flows.reset_by_code(code)

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert list(answer.data) == ["message"]


def test_new_password_is_accepted_and_the_old_one_refused(api, flows, code):
    flows.reset_by_code(code)

    assert api.post("login", email=ANN, password=PASSWORD).error == (401, "INVALID_CREDENTIALS")
    assert api.post("login", email=ANN, password=NEW).status == 200


def test_reset_ends_every_session(api, flows, proven, code):
    flows.reset_by_code(code)

    assert api.get("me", token=proven["access_token"]).error == (401, "INVALID_TOKEN")
    assert api.post("refresh", refresh_token=proven["refresh_token"]).status == 401


def test_reset_notifies_the_owner_by_email(flows, post, code):
    post.jobs.clear()

    flows.reset_by_code(code)

    assert [(job.kind, job.target) for job in post.jobs] == [(kinds.PASSWORD_CHANGED, ANN)]


def test_code_works_once(flows, code):
    flows.reset_by_code(code)

    assert is_refusal(flows.reset_by_code(code), *INVALID)


def test_used_code_ends_the_mailed_link_too(flows, code):
    token = flows.reset_token()
    flows.reset_by_code(code)

    assert flows.reset(token).error == (400, "INVALID_TOKEN")


def test_code_is_valid_for_ten_minutes(clock, proven, flows):
    code = flows.reset_code()
    clock.forward(minutes=9, seconds=59)

    assert flows.reset_by_code(code).status == 200


def test_code_is_refused_as_invalid_after_ten_minutes(clock, proven, flows):
    code = flows.reset_code()
    clock.forward(minutes=10)

    assert is_refusal(flows.reset_by_code(code), *INVALID)


def test_expired_code_is_refused_as_invalid_even_with_a_weak_password(clock, proven, flows):
    code = flows.reset_code()
    clock.forward(minutes=10)

    assert is_refusal(flows.reset_by_code(code, new_password="12345678"), *INVALID)


def test_code_that_expires_while_the_request_waits_for_a_lock_is_refused(flows, code, monkeypatch):
    lock_user = passwords.lock_user

    def wait(person):
        lock_user(person)
        monkeypatch.setattr(readings, "monotonic", lambda: monotonic() + 600)

    monkeypatch.setattr(passwords, "lock_user", wait)

    assert is_refusal(flows.reset_by_code(code), *INVALID)
    monkeypatch.undo()
    assert flows.reset_by_code(code).status == 200


def test_right_code_is_accepted_at_the_fifth_attempt(flows, code):
    for _ in range(4):
        assert flows.reset_by_code(wrong(code)).error == INVALID

    assert flows.reset_by_code(code).status == 200


def test_right_code_after_five_attempts_is_refused_as_a_wrong_one(flows, code):
    refusals = [flows.reset_by_code(wrong(code)) for _ in range(5)]

    late = flows.reset_by_code(code)

    assert is_refusal(late, *INVALID)
    assert {refusal.response.content for refusal in refusals} == {late.response.content}


def test_code_is_limited_to_five_attempts_without_rate_limits(flows, no_floods, code):
    for _ in range(5):
        flows.reset_by_code(wrong(code))

    assert flows.reset_by_code(code).error == INVALID


def test_new_code_ends_the_one_before(flows, code):
    newer = flows.reset_code()

    assert flows.reset_by_code(code if code != newer else wrong(code)).error == INVALID
    assert flows.reset_by_code(newer).status == 200


def test_new_code_has_attempts_of_its_own(flows, code):
    for _ in range(5):
        flows.reset_by_code(wrong(code))

    assert flows.reset_by_code(flows.reset_code()).status == 200


def test_wrong_code_unknown_number_and_other_number_get_the_same_response(api, flows, code):
    api.sign_up("ben@example.com", phone_number=OTHER_PHONE)

    answers = [
        flows.reset_by_code(wrong(code)),
        flows.reset_by_code(code, phone=OTHER_PHONE),
        flows.reset_by_code(code, phone="+4930123458"),
    ]

    assert is_refusal(answers[0], *INVALID)
    assert {answer.response.content for answer in answers} == {answers[0].response.content}


def test_code_for_one_number_is_refused_for_another_number_of_the_user(
    api, flows, proven, no_floods
):
    code = flows.reset_code()
    body = {"phone": OTHER_PHONE}
    api.request("PUT", "profile", body, token=proven["access_token"])
    prove(phone=OTHER_PHONE)

    assert flows.reset_by_code(code, phone=OTHER_PHONE).error == INVALID
    assert flows.reset_by_code(code, phone=PHONE).error == INVALID


def test_code_of_one_user_is_refused_for_another(api, flows, code):
    api.sign_up("ben@example.com", phone_number=OTHER_PHONE)
    prove("ben@example.com", OTHER_PHONE)
    other = flows.reset_code(OTHER_PHONE)

    attempt = other if other != code else wrong(code)

    assert flows.reset_by_code(attempt).error == INVALID


def test_number_that_is_not_verified_gets_no_code(api, ann, post):
    api.post("forgot-password", phone=PHONE)

    assert post.outgoing(kinds.RESET_BY_CODE) is None


def test_code_for_a_number_that_is_no_longer_verified_is_refused(flows, code):
    Account.objects.update(verified_phone_key="")

    assert flows.reset_by_code(code).error == INVALID


def test_code_of_a_user_deactivated_meanwhile_is_refused(flows, code):
    deactivate()

    assert flows.reset_by_code(code).error == INVALID


def test_weak_password_is_invalid_password(flows, code):
    assert is_refusal(flows.reset_by_code(code, new_password="short1!"), 400, "INVALID_PASSWORD")


def test_refused_password_does_not_use_the_code(flows, code):
    flows.reset_by_code(code, new_password="short1!")

    assert flows.reset_by_code(code).status == 200


def test_refused_passwords_do_not_count_as_attempts(flows, code):
    for _ in range(6):
        flows.reset_by_code(code, new_password="short1!")

    assert flows.reset_by_code(code).status == 200


def test_wrong_code_does_not_reveal_the_password_policy(flows, code):
    assert flows.reset_by_code(wrong(code), new_password="short1!").error == INVALID


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"phone": ""}, "phone: This field is required with a code."),
        ({"phone": "030123456"}, "phone: Must be a possible number in E.164 form, as +4930123456."),
        ({"code": ""}, "token: Exactly one of token and code is required."),
        ({"token": "A" * 43}, "token: Exactly one of token and code is required."),
        ({"code": "12345"}, "code: Must be exactly 6 digits."),
        ({"code": "1234567"}, "code: Must be exactly 6 digits."),
        ({"code": "12345a"}, "code: Must be exactly 6 digits."),
        ({"code": "+12345"}, "code: Must be exactly 6 digits."),
        ({"code": "123_56"}, "code: Must be exactly 6 digits."),
        ({"code": "1234\u0666"}, "code: Must be exactly 6 digits."),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_invalid_field_is_a_validation_error_that_names_field_and_rule(flows, change, message):
    answer = flows.reset_by_code(**{"code": "123456", **change})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == message


def test_malformed_code_does_not_count_as_an_attempt(flows, code):
    for _ in range(6):
        flows.reset_by_code("12345")

    assert flows.reset_by_code(code).status == 200


@pytest.mark.parametrize("missing", ["phone", "new_password"])
def test_missing_field_is_a_validation_error(api, missing):
    body = {"code": "123456", "phone": PHONE, "new_password": NEW}
    del body[missing]

    answer = api.post("reset-password", **body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith(f"{missing}: ")
