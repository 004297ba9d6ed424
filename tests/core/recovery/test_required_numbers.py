"""`CORE.REQUIRE_PHONE_VERIFICATION`: an attacker who enters a number cannot lock its owner out.

Nobody has an access token before the number is verified, so the code itself names the account.
"""

import pytest

from authservice.core.messages import kinds
from authservice.core.models import Account
from tests.contract.shapes import is_refusal
from tests.support.client import PASSWORD
from tests.support.flows import ANN, PHONE, account, wrong

pytestmark = pytest.mark.django_db

BOB = "bob@example.com"
INVALID = (400, "INVALID_VERIFICATION_CODE")


@pytest.fixture(autouse=True)
def _required(configure):
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})


@pytest.fixture
def sign_up(api, flows):
    """`sign_up(email)` with the one number; returns the code that is texted."""

    def signed_up(email):
        flows.post.jobs.clear()
        api.sign_up(email, phone_number=PHONE)
        return flows.post.code(kinds.VERIFY_PHONE)

    return signed_up


@pytest.fixture
def codes(sign_up):
    """Bob enters the number of Ann before her and another one after her; the code of each."""
    return {email: sign_up(email) for email in (BOB, ANN, "carol@example.com")}


def log_in(api, email=ANN, password=PASSWORD):
    """From another network than the sign-ups, whose texts are limited."""
    body = {"email": email, "password": password}
    return api.request("POST", "login", body, REMOTE_ADDR="192.0.2.7")


def test_owner_of_a_number_that_others_entered_verifies_it_and_logs_in(api, flows, codes):
    assert flows.verify_phone(codes[ANN]).status == 200

    assert account().verified_phone_key == account().phone_key
    assert log_in(api).status == 200
    assert log_in(api, BOB).code == "PHONE_NOT_VERIFIED"
    assert not Account.objects.exclude(pk=account().pk).exclude(phone_key=None).exists()


def test_code_proves_the_number_for_no_other_account(flows, codes):
    flows.verify_phone(codes[BOB])

    assert account(BOB).verified_phone_key == account(BOB).phone_key
    assert (account().phone_number, account().verified_phone_key) == ("", None)


@pytest.mark.parametrize("other", [BOB, "carol@example.com"])
def test_verified_number_is_not_taken_by_an_earlier_code(api, flows, codes, other):
    flows.verify_phone(codes[ANN])

    assert is_refusal(flows.verify_phone(codes[other]), *INVALID)
    assert account().verified_phone_key == account().phone_key
    assert log_in(api).status == 200
    signup = {"email": "dan@example.com", "password": PASSWORD, "phone_number": PHONE}
    assert api.post("signup", **signup).code == "PHONE_ALREADY_IN_USE"


def test_login_texts_a_code_to_the_account_of_a_shared_number(api, flows, codes):
    flows.post.jobs.clear()

    assert log_in(api).code == "PHONE_NOT_VERIFIED"

    code = flows.post.code(kinds.VERIFY_PHONE)
    assert flows.verify_phone(codes[ANN]).code == INVALID[1]  # the new code has replaced it
    assert flows.verify_phone(code).status == 200
    assert log_in(api).status == 200


def test_login_with_a_wrong_password_texts_nothing(api, flows, codes):
    flows.post.jobs.clear()

    assert log_in(api, password="another 42 windows").code == "INVALID_CREDENTIALS"
    assert flows.post.jobs == []


def test_login_to_the_only_account_of_a_number_texts_nothing(api, flows, sign_up):
    """Its client requests the code, as it does for any other account."""
    code = sign_up(ANN)
    flows.post.jobs.clear()

    assert log_in(api).code == "PHONE_NOT_VERIFIED"
    assert flows.post.jobs == []
    assert flows.verify_phone(code).status == 200


def test_five_attempts_are_compared_with_all_codes_of_a_number(api, flows, codes):
    near = [wrong(code) for code in codes.values()]
    for code in (near * 2)[:5]:
        assert code not in codes.values()
        assert is_refusal(flows.verify_phone(code), *INVALID)

    assert is_refusal(flows.verify_phone(codes[ANN]), *INVALID)
    flows.post.jobs.clear()
    log_in(api)
    assert flows.verify_phone(flows.post.code(kinds.VERIFY_PHONE)).status == 200


def test_right_code_does_not_pass_the_limit_of_its_network(api, flows, configure, sign_up):
    """The code of an account whose device the client knows is no exception: a client that has used
    up its limit would recognize the code by the response."""
    api.sign_up(BOB, phone_number="+4930123499")
    flows.verify_phone(flows.post.code(kinds.VERIFY_PHONE), "+4930123499")
    bob = api.post("login", email=BOB, password=PASSWORD)
    token = bob.data["access_token"]
    api.request("PUT", "profile", {"phone": PHONE}, token=token)
    sign_up(ANN)
    flows.post.jobs.clear()
    sent = api.request("POST", "send-verification-phone", {"phone": PHONE}, token=token)
    assert sent.status == 200
    code = flows.post.code(kinds.VERIFY_PHONE)
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True}, THROTTLE={"RATES": {"guess": "1/h"}})

    def verify(tried):
        device = {"X-Device-Token": bob.headers["X-Device-Token"]}
        return api.request("POST", "verify-phone", {"phone": PHONE, "code": tried}, headers=device)

    assert is_refusal(verify(wrong(code)), *INVALID)
    assert verify(wrong(code)).code == "TOO_MANY_REQUESTS"
    assert verify(code).code == "TOO_MANY_REQUESTS"
