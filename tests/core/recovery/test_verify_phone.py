"""POST /verify-phone: a texted code proves a number."""

import pytest

from authservice.kernel import message_queue
from tests.contract.shapes import is_refusal
from tests.recovery.flows import OTHER_PHONE, PHONE, deactivate, phone_verified, prove, wrong

pytestmark = pytest.mark.django_db

INVALID = (400, "INVALID_VERIFICATION_CODE")


@pytest.fixture
def code(ann, flows):
    return flows.phone_code()


def test_a_success_is_200_with_exactly_a_message(flows, code):
    answer = flows.verify_phone(code)

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert list(answer.data) == ["message"]


def test_the_number_is_verified(api, flows, ann, code):
    flows.verify_phone(code)

    assert phone_verified(ann["access_token"], api)


def test_nothing_else_is_verified(api, flows, ann, code):
    flows.verify_phone(code)

    assert api.get("me", token=ann["access_token"]).data["email_verified"] is False


def test_a_code_has_six_digits(post, code):
    assert len(code) == 6
    assert set(code) <= set("0123456789")


def test_the_letter_goes_to_the_number_and_says_how_long_it_serves(post, code):
    letter = post.letter(message_queue.VERIFY_PHONE)

    assert (letter.channel, letter.to) == ("sms", PHONE)
    assert letter.context["expires_in"].total_seconds() == 600


def test_a_code_works_once(flows, code):
    flows.verify_phone(code)

    assert is_refusal(flows.verify_phone(code), *INVALID)


def test_a_code_serves_for_ten_minutes(clock, api, ann, flows):
    code = flows.phone_code()
    clock.forward(minutes=9, seconds=59)

    assert flows.verify_phone(code).status == 200


def test_after_ten_minutes_it_is_as_good_as_wrong(clock, ann, flows):
    code = flows.phone_code()
    clock.forward(minutes=10)

    assert is_refusal(flows.verify_phone(code), *INVALID)


def test_the_fifth_try_may_be_right(flows, code):
    for _ in range(4):
        assert flows.verify_phone(wrong(code)).error == INVALID

    assert flows.verify_phone(code).status == 200


def test_after_five_tries_the_right_one_answers_as_a_wrong_one(flows, code):
    refusals = [flows.verify_phone(wrong(code)) for _ in range(5)]

    late = flows.verify_phone(code)

    assert is_refusal(late, *INVALID)
    assert {refusal.response.content for refusal in refusals} == {late.response.content}


def test_with_or_without_an_account_a_wrong_code_answers_alike(flows, code):
    known = [flows.verify_phone(wrong(code)) for _ in range(7)]
    unknown = [flows.verify_phone(code, OTHER_PHONE) for _ in range(7)]

    assert {answer.response.content for answer in [*known, *unknown]} == {known[0].response.content}
    assert {answer.status for answer in [*known, *unknown]} == {400}


def test_a_new_code_ends_the_one_before(flows, code):
    newer = flows.phone_code()

    assert flows.verify_phone(code if code != newer else wrong(code)).error == INVALID
    assert flows.verify_phone(newer).status == 200


def test_a_code_that_a_newer_one_ended_does_not_come_back_once_that_is_used(flows, code):
    flows.verify_phone(flows.phone_code())

    assert flows.verify_phone(code).error == INVALID


def test_a_new_code_has_tries_of_its_own(flows, code):
    for _ in range(5):
        flows.verify_phone(wrong(code))

    assert flows.verify_phone(flows.phone_code()).status == 200


def test_a_code_for_one_number_is_useless_for_another(api, flows, ann, code):
    api.request("PUT", "profile", {"phone": OTHER_PHONE}, token=ann["access_token"])

    assert flows.verify_phone(code, OTHER_PHONE).error == INVALID
    assert flows.verify_phone(code, PHONE).error == INVALID


def test_a_number_given_up_is_not_verified_for_whoever_took_it(api, flows, ann, code):
    api.request("PUT", "profile", {"phone": ""}, token=ann["access_token"])
    api.sign_up("ben@example.com", phone_number=PHONE)

    assert flows.verify_phone(code).error == INVALID


def test_a_verified_number_gets_no_further_code(api, ann, post):
    prove(phone=PHONE)
    api.post("send-verification-phone", phone=PHONE)

    assert post.letter(message_queue.VERIFY_PHONE) is None


def test_a_code_of_somebody_who_is_inactive_by_now_is_invalid(flows, code):
    deactivate()

    assert flows.verify_phone(code).error == INVALID


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "phone: This field is required."),
        ({"phone": PHONE}, "code: This field is required."),
        ({"code": "123456"}, "phone: This field is required."),
        ({"phone": PHONE, "code": ""}, "code: This field may not be blank."),
        ({"phone": PHONE, "code": "12345"}, "code: Must be exactly 6 digits."),
        ({"phone": PHONE, "code": "1234567"}, "code: Must be exactly 6 digits."),
        ({"phone": PHONE, "code": "12 456"}, "code: Must be exactly 6 digits."),
        ({"phone": PHONE, "code": "-12345"}, "code: Must be exactly 6 digits."),
        ({"phone": PHONE, "code": "12345\u0666"}, "code: Must be exactly 6 digits."),
        (
            {"phone": PHONE, "code": "\u00b2\u00b2\u00b2\u00b2\u00b2\u00b2"},
            "code: Must be exactly 6 digits.",
        ),
        (
            {"phone": "030123456", "code": "123456"},
            "phone: Must be a possible number in E.164 form, as +4930123456.",
        ),
    ],
    ids=lambda value: ascii(value)[:50],
)
def test_a_broken_rule_is_a_validation_error_that_names_field_and_rule(api, body, message):
    answer = api.post("verify-phone", **body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == message


def test_a_broken_form_uses_up_no_try(flows, code):
    for _ in range(6):
        flows.verify_phone("12345")

    assert flows.verify_phone(code).status == 200
