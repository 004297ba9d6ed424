"""A secret is valid for one purpose at one route, and values not issued for it are refused."""

import pytest

from authservice.core.models import OneTimeToken
from authservice.core.users.identifiers import phone_key
from tests.support.flows import OTHER_PHONE, PHONE, Flows, prove

pytestmark = pytest.mark.django_db


def refused(answer):
    return answer.error in (
        (400, "INVALID_TOKEN"),
        (400, "INVALID_VERIFICATION_TOKEN"),
        (400, "INVALID_VERIFICATION_CODE"),
    )


def test_verification_link_resets_no_password(flows, ann):
    assert refused(flows.reset(flows.email_token()))


def test_reset_link_verifies_no_address(flows, ann):
    assert refused(flows.click(flows.reset_token()))


def test_verification_code_resets_no_password(flows, ann):
    code = flows.phone_code()
    prove(phone=PHONE)

    assert refused(flows.reset_by_code(code))


def test_reset_code_verifies_no_number(flows, proven):
    assert refused(flows.verify_phone(flows.reset_code()))


def test_reset_code_is_refused_as_reset_token(flows, proven):
    assert refused(flows.reset(flows.reset_code()))


def test_attempts_at_one_purpose_are_not_counted_at_another(flows, proven):
    code = flows.reset_code()
    for _ in range(6):
        flows.verify_phone(code)

    assert flows.reset_by_code(code).status == 200


@pytest.mark.parametrize(
    ("obtain", "use", "purpose"),
    [
        (Flows.email_token, Flows.reset, "reset-password"),
        (Flows.reset_token, Flows.click, "verify-email"),
        (Flows.phone_code, Flows.reset_by_code, "reset-password"),
    ],
)
def test_one_time_token_whose_row_has_another_purpose_is_refused(flows, ann, obtain, use, purpose):
    secret = obtain(flows)
    prove(phone=PHONE)
    OneTimeToken.objects.update(purpose=purpose)

    assert refused(use(flows, secret))


def test_one_time_token_whose_row_has_another_number_is_refused(api, flows, ann):
    code = flows.phone_code()
    api.request("PUT", "profile", {"phone": OTHER_PHONE}, token=ann["access_token"])
    OneTimeToken.objects.update(target_key=phone_key(OTHER_PHONE))

    assert refused(flows.verify_phone(code, OTHER_PHONE))


def test_one_time_token_whose_row_has_another_user_is_refused(api, flows, ann):
    token = flows.reset_token()
    ben = api.sign_up("ben@example.com")
    OneTimeToken.objects.update(user=ben["user"]["id"])

    assert refused(flows.reset(token))
    assert refused(flows.reset(token, email="ben@example.com"))


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_tokens_of_a_session_reset_no_password(flows, ann, which):
    assert refused(flows.reset(ann[which][:512]))


@pytest.mark.parametrize("obtain", [Flows.reset_token, Flows.email_token])
def test_mailed_token_is_refused_as_access_and_refresh_token(api, flows, ann, obtain):
    token = obtain(flows)

    assert api.get("me", token=token).error == (401, "INVALID_TOKEN")
    assert api.post("refresh", refresh_token=token).error == (401, "INVALID_REFRESH_TOKEN")


def test_stored_digest_is_refused_as_token(flows, ann):
    flows.reset_token()

    assert refused(flows.reset(OneTimeToken.objects.get().digest))


def test_mailed_token_has_256_random_bits(flows, ann):
    first, second = flows.reset_token(), flows.reset_token()

    assert len(first) == len(second) == 43
    assert first != second
