"""`SIGNUP_ENUMERATION = "hide"`, after an attacker has signed up with an unverified address of
another user: the owner's sign-up mails no link that would verify the attacker's account."""

import pytest

from authservice.core.messages import kinds
from tests.core.recovery.thief import Thief, log_in
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, PHONE

pytestmark = pytest.mark.django_db

FREE = "new@example.com"


@pytest.fixture
def sign_up(ann, api, configure):
    """Sign up after `ann` has taken the first address and verified nothing."""
    configure(CORE={"SIGNUP_ENUMERATION": "hide"})
    return lambda email: api.post("signup", email=email, password="victim keeps 3 bees")


def test_signup_at_an_unverified_address_mails_no_link_that_verifies_it(sign_up, post):
    sign_up(ANN)

    message = post.outgoing(kinds.SIGNUP)
    assert (message.kind, message.to) == (kinds.SIGNUP_UNPROVEN, ANN)
    assert "/reset-password?" in message.context["link"].reveal()
    assert "/verify-email" not in message.context["link"].reveal()


def test_signup_at_an_address_verified_by_a_scanner_mails_a_password_link(sign_up, post, flows):
    assert flows.click(flows.email_token()).status == 200
    sign_up(ANN)

    assert post.outgoing(kinds.SIGNUP).kind == kinds.SIGNUP_UNPROVEN


def test_signup_mailed_again_after_a_failure_verifies_its_own_address(api, sign_up, post, flows):
    sign_up(FREE)
    post.outgoing(kinds.SIGNUP)  # sending fails, and the worker retries the job

    assert flows.click(post.token(kinds.SIGNUP), FREE).status == 200


def test_second_signup_at_the_same_address_mails_a_password_link(sign_up, post):
    sign_up(FREE)
    post.outgoing(kinds.SIGNUP)
    sign_up(FREE)

    assert post.outgoing(kinds.SIGNUP).kind == kinds.SIGNUP_UNPROVEN


def test_password_set_after_a_second_signup_revokes_access_of_the_first(
    sign_up, ann, api, post, flows
):
    assert flows.verify_phone(flows.phone_code()).status == 200
    sign_up(ANN)

    assert flows.reset(post.token(kinds.SIGNUP)).status == 200

    user = log_in(flows).data["user"]
    assert (user["phone_number"], user["email_verified"]) == ("", True)
    assert not Thief(flows, ann["access_token"]).reset_by_number(PHONE)
    assert api.get("me", token=ann["access_token"]).status == 401
    assert api.post("login", email=ANN, password=PASSWORD).status == 401
    assert log_in(flows, NEW).status == 200
