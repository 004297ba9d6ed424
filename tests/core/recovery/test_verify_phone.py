"""POST /verify-phone: a code sent by SMS verifies a number."""

import pytest

from authservice.core.credentials import one_time
from authservice.core.messages import kinds
from authservice.core.models import Account
from tests.contract.shapes import is_refusal
from tests.support.flows import (
    OTHER_PHONE,
    PHONE,
    account,
    deactivate,
    phone_verified,
    prove,
    wrong,
)

pytestmark = pytest.mark.django_db

INVALID = (400, "INVALID_VERIFICATION_CODE")


@pytest.fixture
def code(ann, flows):
    return flows.phone_code()


def test_success_returns_200_with_a_message_only(flows, code):
    answer = flows.verify_phone(code)

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert list(answer.data) == ["message"]


def test_right_code_verifies_the_number(api, flows, ann, code):
    flows.verify_phone(code)

    assert phone_verified(ann["access_token"], api)


def test_right_code_verifies_nothing_else(api, flows, ann, code):
    flows.verify_phone(code)

    assert api.get("me", token=ann["access_token"]).data["email_verified"] is False


def test_code_has_six_digits(post, code):
    assert len(code) == 6
    assert set(code) <= set("0123456789")


def test_sms_goes_to_the_number_and_says_how_long_its_code_is_valid(post, code):
    message = post.outgoing(kinds.VERIFY_PHONE)

    assert (message.channel, message.to) == ("sms", PHONE)
    assert message.context["expires_in"].total_seconds() == 600


def test_code_works_once(flows, code):
    flows.verify_phone(code)

    assert is_refusal(flows.verify_phone(code), *INVALID)


def test_code_is_valid_for_ten_minutes(clock, api, ann, flows):
    code = flows.phone_code()
    clock.forward(minutes=9, seconds=59)

    assert flows.verify_phone(code).status == 200


def test_code_is_refused_as_invalid_after_ten_minutes(clock, ann, flows):
    code = flows.phone_code()
    clock.forward(minutes=10)

    assert is_refusal(flows.verify_phone(code), *INVALID)


def test_right_code_is_accepted_at_the_fifth_attempt(flows, code):
    for _ in range(4):
        assert flows.verify_phone(wrong(code)).error == INVALID

    assert flows.verify_phone(code).status == 200


def test_right_code_after_five_attempts_is_refused_as_a_wrong_one(flows, code):
    refusals = [flows.verify_phone(wrong(code)) for _ in range(5)]

    late = flows.verify_phone(code)

    assert is_refusal(late, *INVALID)
    assert {refusal.response.content for refusal in refusals} == {late.response.content}


def test_wrong_code_gets_the_same_response_with_or_without_an_account(flows, code):
    known = [flows.verify_phone(wrong(code)) for _ in range(7)]
    unknown = [flows.verify_phone(code, OTHER_PHONE) for _ in range(7)]

    assert {answer.response.content for answer in [*known, *unknown]} == {known[0].response.content}
    assert {answer.status for answer in [*known, *unknown]} == {400}


def test_new_code_ends_the_one_before(flows, code):
    newer = flows.phone_code()

    assert flows.verify_phone(code if code != newer else wrong(code)).error == INVALID
    assert flows.verify_phone(newer).status == 200


def test_code_stays_invalid_after_a_newer_one_was_used(flows, code):
    flows.verify_phone(flows.phone_code())

    assert flows.verify_phone(code).error == INVALID


def test_new_code_has_attempts_of_its_own(flows, code):
    for _ in range(5):
        flows.verify_phone(wrong(code))

    assert flows.verify_phone(flows.phone_code()).status == 200


def test_code_for_one_number_is_refused_for_another(api, flows, ann, code):
    api.request("PUT", "profile", {"phone": OTHER_PHONE}, token=ann["access_token"])

    assert flows.verify_phone(code, OTHER_PHONE).error == INVALID
    assert flows.verify_phone(code, PHONE).error == INVALID


def test_code_is_refused_after_the_number_moved_to_another_user(api, flows, ann, code):
    api.request("PUT", "profile", {"phone": ""}, token=ann["access_token"])
    api.sign_up("ben@example.com", phone_number=PHONE)

    assert flows.verify_phone(code).error == INVALID


def test_code_is_refused_if_the_number_changes_after_it_was_accepted(flows, code, monkeypatch):
    """Code of the host project can write the row without the lock of the user."""
    consume = one_time.consume_for

    def consume_before_a_change(*args):
        present = consume(*args)
        Account.objects.update(phone_number="", phone_key=None)
        return present

    monkeypatch.setattr(one_time, "consume_for", consume_before_a_change)

    assert is_refusal(flows.verify_phone(code), *INVALID)
    assert account().verified_phone_key is None


def test_verified_number_gets_no_further_code(api, ann, post):
    prove(phone=PHONE)
    api.post("send-verification-phone", phone=PHONE)

    assert post.outgoing(kinds.VERIFY_PHONE) is None


def test_code_of_a_user_deactivated_meanwhile_is_refused(flows, code):
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
        ({"phone": PHONE, "code": "1234\u0666"}, "code: Must be exactly 6 digits."),
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
def test_invalid_field_is_a_validation_error_that_names_field_and_rule(api, body, message):
    answer = api.post("verify-phone", **body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == message


def test_malformed_code_does_not_count_as_an_attempt(flows, code):
    for _ in range(6):
        flows.verify_phone("12345")

    assert flows.verify_phone(code).status == 200
