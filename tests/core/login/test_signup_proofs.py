"""Where an address or a number must be proven first, a signup leads to tokens by way of a proof."""

import pytest

from authservice.kernel import message_queue
from tests.client import PASSWORD
from tests.contract.shapes import USER, fits, is_refusal
from tests.recovery.flows import ANN, PHONE

pytestmark = pytest.mark.django_db

BODY = {"email": ANN, "password": PASSWORD, "phone_number": PHONE}


@pytest.fixture
def required(configure):
    """`required("EMAIL", "PHONE")`: what must be proven before anybody gets tokens."""

    def require(*kinds):
        configure(CORE={f"REQUIRE_{kind}_VERIFICATION": True for kind in kinds})

    return require


def log_in(api):
    return api.post("login", email=ANN, password=PASSWORD)


@pytest.mark.parametrize("kinds", [("EMAIL",), ("PHONE",), ("EMAIL", "PHONE")])
def test_a_signup_is_201_with_user_and_message_and_no_tokens(api, required, kinds):
    required(*kinds)

    answer = api.post("signup", **BODY)

    assert answer.status == 201
    assert fits(answer.data, {"user": USER, "message": str})


def test_an_address_that_is_proven_opens(api, flows, post, required):
    required("EMAIL")
    api.post("signup", **BODY)
    assert is_refusal(log_in(api), 403, "EMAIL_NOT_VERIFIED")

    flows.click(post.token(message_queue.VERIFY_EMAIL))

    assert log_in(api).status == 200


def test_a_number_that_is_proven_opens(api, flows, post, required):
    required("PHONE")
    api.post("signup", **BODY)
    assert is_refusal(log_in(api), 403, "PHONE_NOT_VERIFIED")

    flows.verify_phone(post.code(message_queue.VERIFY_PHONE))

    assert log_in(api).status == 200


def test_one_of_two_proofs_does_not_open(api, flows, post, required):
    required("EMAIL", "PHONE")
    api.post("signup", **BODY)

    flows.verify_phone(post.code(message_queue.VERIFY_PHONE))

    assert log_in(api).error == (403, "EMAIL_NOT_VERIFIED")


def test_reset_by_mailed_link_verifies_the_address(api, flows, required):
    required("EMAIL")
    api.post("signup", **BODY)

    flows.reset(flows.reset_token(), new_password=PASSWORD)

    assert log_in(api).status == 200


@pytest.mark.parametrize(
    ("kinds", "sent"),
    [
        ((), [message_queue.VERIFY_EMAIL]),
        (("EMAIL",), [message_queue.VERIFY_EMAIL]),
        (("PHONE",), [message_queue.VERIFY_EMAIL, message_queue.VERIFY_PHONE]),
    ],
)
def test_a_text_message_is_sent_only_where_a_number_must_be_proven(
    api, post, required, kinds, sent
):
    required(*kinds)

    api.post("signup", **BODY)

    assert post.kinds() == sent


def test_a_refused_signup_sends_nothing(api, post):
    api.post("signup", **{**BODY, "password": "short1!"})

    assert post.jobs == []


def test_a_taken_address_is_not_written_to(api, ann, post):
    api.post("signup", email=ANN, password=PASSWORD)

    assert post.jobs == []


def test_a_closed_signup_sends_nothing(api, post, configure):
    configure(CORE={"ALLOW_SIGNUP": False})

    assert is_refusal(api.post("signup", **BODY), 403, "SIGNUP_DISABLED")
    assert post.jobs == []
