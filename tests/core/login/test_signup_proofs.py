"""If an address or a number must be verified first, a sign-up returns no tokens until then."""

import pytest

from authservice.core.messages import kinds
from tests.contract.shapes import UNVERIFIED, fits, is_refusal
from tests.support.client import PASSWORD
from tests.support.flows import ANN, PHONE

pytestmark = pytest.mark.django_db

BODY = {"email": ANN, "password": PASSWORD, "phone_number": PHONE}


@pytest.fixture
def required(configure):
    """`required("EMAIL", "PHONE")`: what must be verified before tokens are issued."""

    def require(*channels):
        configure(CORE={f"REQUIRE_{kind}_VERIFICATION": True for kind in channels})

    return require


def log_in(api):
    return api.post("login", email=ANN, password=PASSWORD)


@pytest.mark.parametrize("channels", [("EMAIL",), ("PHONE",), ("EMAIL", "PHONE")])
def test_signup_with_required_verification_is_201_without_tokens(api, required, channels):
    required(*channels)

    answer = api.post("signup", **BODY)

    assert answer.status == 201
    assert fits(answer.data, UNVERIFIED)


def test_login_succeeds_after_the_required_address_is_verified(api, flows, post, required):
    required("EMAIL")
    api.post("signup", **BODY)
    assert is_refusal(log_in(api), 403, "EMAIL_NOT_VERIFIED")

    flows.click(post.token(kinds.VERIFY_EMAIL))

    assert log_in(api).status == 200


def test_login_succeeds_after_the_required_number_is_verified(api, flows, post, required):
    required("PHONE")
    api.post("signup", **BODY)
    assert is_refusal(log_in(api), 403, "PHONE_NOT_VERIFIED")

    flows.verify_phone(post.code(kinds.VERIFY_PHONE))

    assert log_in(api).status == 200


def test_login_is_refused_after_one_of_two_required_verifications(api, flows, post, required):
    required("EMAIL", "PHONE")
    api.post("signup", **BODY)

    flows.verify_phone(post.code(kinds.VERIFY_PHONE))

    assert log_in(api).error == (403, "EMAIL_NOT_VERIFIED")


def test_reset_by_link_verifies_the_required_address(api, flows, required):
    required("EMAIL")
    api.post("signup", **BODY)

    flows.reset(flows.reset_token(), new_password=PASSWORD)

    assert log_in(api).status == 200


@pytest.mark.parametrize(
    ("channels", "sent"),
    [
        ((), [kinds.VERIFY_EMAIL]),
        (("EMAIL",), [kinds.VERIFY_EMAIL]),
        (("PHONE",), [kinds.VERIFY_EMAIL, kinds.VERIFY_PHONE]),
    ],
)
def test_signup_sends_an_sms_only_if_the_number_must_be_verified(
    api, post, required, channels, sent
):
    required(*channels)

    api.post("signup", **BODY)

    assert post.kinds() == sent


def test_signup_with_a_weak_password_sends_nothing(api, post):
    api.post("signup", **{**BODY, "password": "short1!"})

    assert post.jobs == []


def test_signup_with_a_taken_address_sends_nothing(api, ann, post):
    api.post("signup", email=ANN, password=PASSWORD)

    assert post.jobs == []


def test_signup_when_disabled_sends_nothing(api, post, configure):
    configure(CORE={"ALLOW_SIGNUP": False})

    assert is_refusal(api.post("signup", **BODY), 403, "SIGNUP_DISABLED")
    assert post.jobs == []
