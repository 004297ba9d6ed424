"""`SIGNUP_ENUMERATION = "hide"`, where an attacker has signed up with an address that nobody has
proven: the sign-up of its owner mails no link that would verify the attacker's account."""

import pytest

from authservice.kernel import message_queue
from tests.client import PASSWORD
from tests.recovery.flows import ANN, NEW, PHONE
from tests.recovery.thief import Thief, log_in

pytestmark = pytest.mark.django_db

FREE = "new@example.com"


@pytest.fixture
def sign_up(ann, api, configure):
    """Sign up where `ann` has taken the first address and proven nothing."""
    configure(CORE={"SIGNUP_ENUMERATION": "hide"})
    return lambda email: api.post("signup", email=email, password="victim keeps 3 bees")


def test_sign_up_at_an_unproven_address_mails_no_link_that_verifies_it(sign_up, post):
    sign_up(ANN)

    letter = post.letter(message_queue.SIGNUP)
    assert (letter.kind, letter.to) == (message_queue.SIGNUP_UNPROVEN, ANN)
    assert "/reset-password?" in letter.context["link"].reveal()
    assert "/verify-email" not in letter.context["link"].reveal()


def test_sign_up_at_an_address_that_a_scanner_verified_mails_a_link_to_set_a_password(
    sign_up, post, flows
):
    assert flows.click(flows.email_token()).status == 200
    sign_up(ANN)

    assert post.letter(message_queue.SIGNUP).kind == message_queue.SIGNUP_UNPROVEN


def test_sign_up_mailed_again_after_a_failure_still_verifies_its_own_address(
    api, sign_up, post, flows
):
    sign_up(FREE)
    post.letter(message_queue.SIGNUP)  # sending fails, and the worker tries the job again

    assert flows.click(post.token(message_queue.SIGNUP), FREE).status == 200


def test_second_sign_up_at_the_same_address_mails_a_link_to_set_a_password(sign_up, post):
    sign_up(FREE)
    post.letter(message_queue.SIGNUP)
    sign_up(FREE)

    assert post.letter(message_queue.SIGNUP).kind == message_queue.SIGNUP_UNPROVEN


def test_password_set_after_a_sign_up_at_an_unproven_address_evicts_the_first_sign_up(
    sign_up, ann, api, post, flows
):
    assert flows.verify_phone(flows.phone_code()).status == 200
    sign_up(ANN)

    assert flows.reset(post.token(message_queue.SIGNUP)).status == 200

    user = log_in(flows).data["user"]
    assert (user["phone_number"], user["email_verified"]) == ("", True)
    assert not Thief(flows, ann["access_token"]).reset_by_number(PHONE)
    assert api.get("me", token=ann["access_token"]).status == 401
    assert api.post("login", email=ANN, password=PASSWORD).status == 401
    assert log_in(flows, NEW).status == 200
