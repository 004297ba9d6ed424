"""POST /reset-password with a texted code, for a number that was proven."""

import pytest

from authservice.core.models import Account
from authservice.kernel import message_queue
from tests.client import PASSWORD
from tests.contract.shapes import is_refusal
from tests.recovery.flows import ANN, NEW, OTHER_PHONE, PHONE, deactivate, prove, wrong

pytestmark = pytest.mark.django_db

INVALID = (400, "INVALID_VERIFICATION_CODE")


@pytest.fixture
def code(proven, flows):
    return flows.reset_code()


def test_a_success_is_200_with_exactly_a_message(flows, code):
    answer = flows.reset_by_code(code)

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert list(answer.data) == ["message"]


def test_the_new_password_opens_and_the_old_one_does_not(api, flows, code):
    flows.reset_by_code(code)

    assert api.post("login", email=ANN, password=PASSWORD).error == (401, "INVALID_CREDENTIALS")
    assert api.post("login", email=ANN, password=NEW).status == 200


def test_every_sign_in_ends(api, flows, proven, code):
    flows.reset_by_code(code)

    assert api.get("me", token=proven["access_token"]).error == (401, "INVALID_TOKEN")
    assert api.post("refresh", refresh_token=proven["refresh_token"]).status == 401


def test_the_owner_hears_of_it_by_mail(flows, post, code):
    post.jobs.clear()

    flows.reset_by_code(code)

    assert [(job.kind, job.target) for job in post.jobs] == [(message_queue.PASSWORD_CHANGED, ANN)]


def test_a_code_works_once(flows, code):
    flows.reset_by_code(code)

    assert is_refusal(flows.reset_by_code(code), *INVALID)


def test_using_it_ends_the_link_of_the_mail_too(flows, code):
    token = flows.reset_token()
    flows.reset_by_code(code)

    assert flows.reset(token).error == (400, "INVALID_TOKEN")


def test_a_code_serves_for_ten_minutes(clock, proven, flows):
    code = flows.reset_code()
    clock.forward(minutes=9, seconds=59)

    assert flows.reset_by_code(code).status == 200


def test_after_ten_minutes_it_is_as_good_as_wrong(clock, proven, flows):
    code = flows.reset_code()
    clock.forward(minutes=10)

    assert is_refusal(flows.reset_by_code(code), *INVALID)


def test_an_expired_code_answers_as_a_wrong_one_whatever_the_password(clock, proven, flows):
    code = flows.reset_code()
    clock.forward(minutes=10)

    assert is_refusal(flows.reset_by_code(code, new_password="12345678"), *INVALID)


def test_the_fifth_try_may_be_right(flows, code):
    for _ in range(4):
        assert flows.reset_by_code(wrong(code)).error == INVALID

    assert flows.reset_by_code(code).status == 200


def test_after_five_tries_the_right_one_answers_as_a_wrong_one(flows, code):
    refusals = [flows.reset_by_code(wrong(code)) for _ in range(5)]

    late = flows.reset_by_code(code)

    assert is_refusal(late, *INVALID)
    assert {refusal.response.content for refusal in refusals} == {late.response.content}


def test_flood_limits_that_are_off_leave_it_at_five(flows, no_floods, code):
    for _ in range(5):
        flows.reset_by_code(wrong(code))

    assert flows.reset_by_code(code).error == INVALID


def test_a_new_code_ends_the_one_before(flows, code):
    newer = flows.reset_code()

    assert flows.reset_by_code(code if code != newer else wrong(code)).error == INVALID
    assert flows.reset_by_code(newer).status == 200


def test_a_new_code_has_tries_of_its_own(flows, code):
    for _ in range(5):
        flows.reset_by_code(wrong(code))

    assert flows.reset_by_code(flows.reset_code()).status == 200


def test_wrong_unknown_and_other_number_answer_alike(api, flows, code):
    api.sign_up("ben@example.com", phone_number=OTHER_PHONE)

    answers = [
        flows.reset_by_code(wrong(code)),
        flows.reset_by_code(code, phone=OTHER_PHONE),
        flows.reset_by_code(code, phone="+4930123458"),
    ]

    assert is_refusal(answers[0], *INVALID)
    assert {answer.response.content for answer in answers} == {answers[0].response.content}


def test_a_code_for_one_number_is_useless_for_another_of_the_same_person(
    api, flows, proven, no_floods
):
    code = flows.reset_code()
    body = {"phone": OTHER_PHONE}
    api.request("PUT", "profile", body, token=proven["access_token"])
    prove(phone=OTHER_PHONE)

    assert flows.reset_by_code(code, phone=OTHER_PHONE).error == INVALID
    assert flows.reset_by_code(code, phone=PHONE).error == INVALID


def test_a_code_of_one_person_is_useless_for_another(api, flows, code):
    api.sign_up("ben@example.com", phone_number=OTHER_PHONE)
    prove("ben@example.com", OTHER_PHONE)
    other = flows.reset_code(OTHER_PHONE)

    guess = other if other != code else wrong(code)

    assert flows.reset_by_code(guess).error == INVALID


def test_a_number_that_nobody_has_proven_gets_no_code(api, ann, post):
    api.post("forgot-password", phone=PHONE)

    assert post.letter(message_queue.RESET_BY_CODE) is None


def test_a_number_that_is_unproven_by_now_is_refused(flows, code):
    Account.objects.update(verified_phone_key="")

    assert flows.reset_by_code(code).error == INVALID


def test_a_code_of_somebody_who_is_inactive_by_now_is_invalid(flows, code):
    deactivate()

    assert flows.reset_by_code(code).error == INVALID


def test_a_weak_password_is_invalid_password(flows, code):
    assert is_refusal(flows.reset_by_code(code, new_password="short1!"), 400, "INVALID_PASSWORD")


def test_a_refused_password_spends_nothing(flows, code):
    flows.reset_by_code(code, new_password="short1!")

    assert flows.reset_by_code(code).status == 200


def test_refused_passwords_use_up_no_tries(flows, code):
    for _ in range(6):
        flows.reset_by_code(code, new_password="short1!")

    assert flows.reset_by_code(code).status == 200


def test_who_has_no_code_does_not_learn_the_policy(flows, code):
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
        ({"code": " 123456"}, "code: Must be exactly 6 digits."),
        ({"code": "123456 "}, "code: Must be exactly 6 digits."),
        ({"code": "+12345"}, "code: Must be exactly 6 digits."),
        ({"code": "123_56"}, "code: Must be exactly 6 digits."),
        ({"code": "12345\u0666"}, "code: Must be exactly 6 digits."),
        ({"code": "\uff11\uff12\uff13\uff14\uff15\uff16"}, "code: Must be exactly 6 digits."),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_broken_rule_is_a_validation_error_that_names_field_and_rule(flows, change, message):
    answer = flows.reset_by_code(**{"code": "123456", **change})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == message


def test_a_broken_form_uses_up_no_try(flows, code):
    for _ in range(6):
        flows.reset_by_code("12345")

    assert flows.reset_by_code(code).status == 200


@pytest.mark.parametrize("missing", ["phone", "new_password"])
def test_what_is_missing_is_a_validation_error(api, missing):
    body = {"code": "123456", "phone": PHONE, "new_password": NEW}
    del body[missing]

    answer = api.post("reset-password", **body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith(f"{missing}: ")
