"""A secret proves one thing, at one route, and what is no secret of ours proves nothing."""

import pytest

from authservice.core.models import OneTimeToken
from authservice.core.users.identifiers import phone_key
from tests.recovery.flows import OTHER_PHONE, PHONE, Flows, prove

pytestmark = pytest.mark.django_db


def refused(answer):
    return answer.error in (
        (400, "INVALID_TOKEN"),
        (400, "INVALID_VERIFICATION_TOKEN"),
        (400, "INVALID_VERIFICATION_CODE"),
    )


def test_a_verification_link_resets_no_password(flows, ann):
    assert refused(flows.reset(flows.email_token()))


def test_a_reset_link_verifies_no_address(flows, ann):
    assert refused(flows.click(flows.reset_token()))


def test_a_verification_code_resets_no_password(flows, ann):
    code = flows.phone_code()
    prove(phone=PHONE)

    assert refused(flows.reset_by_code(code))


def test_a_reset_code_verifies_no_number(flows, proven):
    assert refused(flows.verify_phone(flows.reset_code()))


def test_a_code_is_no_token(flows, proven):
    assert refused(flows.reset(flows.reset_code()))


def test_tries_at_one_purpose_are_not_counted_at_another(flows, proven):
    code = flows.reset_code()
    for _ in range(6):
        flows.verify_phone(code)

    assert flows.reset_by_code(code).status == 200


@pytest.mark.parametrize(
    ("ask", "use", "purpose"),
    [
        (Flows.email_token, Flows.reset, "reset-password"),
        (Flows.reset_token, Flows.click, "verify-email"),
        (Flows.phone_code, Flows.reset_by_code, "reset-password"),
    ],
)
def test_a_row_that_is_given_another_purpose_opens_nothing(flows, ann, ask, use, purpose):
    secret = ask(flows)
    prove(phone=PHONE)
    OneTimeToken.objects.update(purpose=purpose)

    assert refused(use(flows, secret))


def test_a_row_that_is_given_another_number_opens_nothing(api, flows, ann):
    code = flows.phone_code()
    api.request("PUT", "profile", {"phone": OTHER_PHONE}, token=ann["access_token"])
    OneTimeToken.objects.update(target_key=phone_key(OTHER_PHONE))

    assert refused(flows.verify_phone(code, OTHER_PHONE))


def test_a_row_that_is_given_another_person_opens_nothing(api, flows, ann):
    token = flows.reset_token()
    ben = api.sign_up("ben@example.com")
    OneTimeToken.objects.update(user=ben["user"]["id"])

    assert refused(flows.reset(token))
    assert refused(flows.reset(token, email="ben@example.com"))


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_tokens_of_a_sign_in_reset_no_password(flows, ann, which):
    assert refused(flows.reset(ann[which][:512]))


@pytest.mark.parametrize("ask", [Flows.reset_token, Flows.email_token])
def test_a_mailed_token_signs_nobody_in(api, flows, ann, ask):
    token = ask(flows)

    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")
    assert api.post("refresh", refresh_token=token).error == (401, "INVALID_REFRESH_TOKEN")


def test_the_stored_digest_is_no_token(flows, ann):
    flows.reset_token()

    assert refused(flows.reset(OneTimeToken.objects.get().digest))


def test_a_token_has_256_random_bits(flows, ann):
    first, second = flows.reset_token(), flows.reset_token()

    assert len(first) == len(second) == 43
    assert first != second
