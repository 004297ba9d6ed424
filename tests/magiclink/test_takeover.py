"""Access that was set up with an unverified address ends when the owner of the address logs in."""

from dataclasses import dataclass
from typing import Any

import pytest

from authservice.core.credentials import one_time
from authservice.core.messages import kinds
from authservice.core.models import Account, PhoneSource, Session
from authservice.core.users.identifiers import email_key, phone_key
from tests.contract.shapes import is_refusal
from tests.magiclink.magic import ANN
from tests.support.client import PASSWORD
from tests.support.flows import NEW, PHONE, Flows, account, prove
from tests.support.needs import stateless_login
from tests.support.people import the_user
from tests.support.slots import accessing, asking

pytestmark = pytest.mark.django_db


@dataclass
class Attacker:
    """Tokens of an attacker who signed up with Ann's address before her (account pre-hijacking)."""

    access_token: str
    refresh_token: str


@pytest.fixture
def attacker(api, post) -> Attacker:
    signed_up = api.sign_up(phone_number=PHONE, name="Call 0900 12345")
    account = Account.objects.get()
    Account.objects.update(verified_phone_key=account.phone_key)
    post.jobs.clear()
    return Attacker(signed_up["access_token"], signed_up["refresh_token"])


@pytest.fixture(params=["link", "button", "code"])
def log_in(request, magic):
    """Ann logs in and verifies her address; `log_in(token)` sends an access token along."""

    def log_in(token: str = "") -> Any:
        pair = magic.mailed()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if request.param == "code":
            return magic.type(pair.code, **headers)
        use = magic.follow if request.param == "link" else magic.submit
        return use(pair.token, **headers)

    return log_in


def test_password_from_before_is_refused(api, attacker, log_in):
    log_in()

    answer = api.post("login", email=ANN, password=PASSWORD)

    assert is_refusal(answer, 401, "INVALID_CREDENTIALS")


def test_tokens_from_before_are_refused(api, attacker, log_in):
    log_in()

    assert api.get("me", token=attacker.access_token).status == 401
    assert api.post("refresh", refresh_token=attacker.refresh_token).status == 401


def test_session_from_before_is_revoked_with_its_reason(attacker, log_in):
    log_in()

    ended = Session.objects.exclude(ended_at=None)
    assert [row.end_reason for row in ended] == ["unproven"]


def test_number_from_before_is_unverified_if_it_is_set_again(api, attacker, log_in):
    token = log_in().data["access_token"]

    Account.objects.update(phone_number=PHONE, phone_key=phone_key(PHONE))

    assert api.get("me", token=token).data["phone_number_verified"] is False


def test_device_from_before_has_no_attempts_of_its_own(attacker, log_in):
    version = account().token_version
    log_in()

    assert account().token_version > version


def test_owner_is_logged_in(api, attacker, log_in):
    answer = log_in()

    me = api.get("me", token=answer.data["access_token"])
    assert me.data["email_verified"] is True
    assert api.post("refresh", refresh_token=answer.data["refresh_token"]).status == 200


def test_number_of_the_attacker_gets_no_code(api, post, attacker, log_in):
    log_in()
    api.post("forgot-password", phone=PHONE)

    assert post.outgoing(kinds.RESET_BY_CODE) is None
    assert account().phone_number == ""


def test_one_time_tokens_from_before_are_invalid(api, post, attacker, log_in):
    flows = Flows(api, post)
    code = flows.reset_code()
    log_in()

    assert flows.reset_by_code(code).status == 400
    assert one_time.OneTimeToken.objects.filter(spent_at=None).count() == 0


def test_every_module_revokes_its_unverified_access(attacker, log_in):
    calls = []

    def revoke(person):
        calls.append((person.email, Session.objects.filter(ended_at=None).count()))

    with accessing(first_proof=revoke):
        log_in()

    assert calls == [(ANN, 1)]


def test_second_factor_is_asked_for_after_access_was_revoked(attacker, log_in):
    order = []

    with (
        accessing(first_proof=lambda person: order.append("revoke")),
        asking(lambda arrival: order.append("ask")),
    ):
        log_in()

    assert order == ["revoke", "ask"]


def test_owner_gets_an_email_with_a_link_to_set_a_password(api, post, attacker, log_in):
    log_in()
    flows = Flows(api, post)

    assert flows.reset(post.token(kinds.ACCESS_WIPED)).status == 200
    assert api.post("login", email=ANN, password=NEW).status == 200


def test_second_login_removes_nothing(api, post, attacker, log_in):
    log_in()
    flows = Flows(api, post)
    flows.reset(post.token(kinds.ACCESS_WIPED))
    tokens = api.log_in(password=NEW)

    log_in()

    assert api.get("me", token=tokens["access_token"]).status == 200
    assert post.kinds().count(kinds.ACCESS_WIPED) == 1


def test_address_verified_by_another_way_before_removes_nothing(api, attacker, log_in):
    prove()
    log_in()

    assert api.get("me", token=attacker.access_token).status == 200
    api.log_in()


def test_login_with_a_valid_access_token_removes_nothing(api, post, attacker, log_in):
    answer = log_in(attacker.access_token)

    assert answer.data["user"]["email_verified"] is True
    assert api.get("me", token=attacker.access_token).status == 200
    assert api.get("me", token=attacker.access_token).data["phone_number"] == PHONE
    assert kinds.ACCESS_WIPED not in post.kinds()
    api.log_in()


def test_login_with_a_token_of_an_ended_session_removes_access(api, attacker, log_in):
    api.post("logout", token=attacker.access_token)
    log_in(attacker.access_token)

    assert api.post("login", email=ANN, password=PASSWORD).status == 401


@stateless_login
def test_login_with_a_token_checked_by_signature_only_removes_access(
    api, attacker, log_in, configure
):
    configure(STATELESS={"CHECK": "signature"})
    api.post("logout", token=attacker.access_token)
    log_in(attacker.access_token)

    assert api.post("login", email=ANN, password=PASSWORD).status == 401


def test_login_with_a_token_of_another_user_removes_access(api, attacker, log_in):
    eve = api.sign_up("eve@example.com")
    log_in(eve["access_token"])

    assert api.post("login", email=ANN, password=PASSWORD).status == 401


@pytest.mark.parametrize("token", ["nonsense", "a.b.c"])
def test_login_with_an_invalid_token_removes_access(api, attacker, log_in, token):
    assert log_in(token).status == 200
    assert api.post("login", email=ANN, password=PASSWORD).status == 401


def test_setting_turned_off_keeps_earlier_access(api, post, attacker, log_in, configure):
    configure(CORE={"WIPE_UNPROVEN": False})
    answer = log_in()

    assert answer.data["user"]["email_verified"] is True
    assert api.get("me", token=attacker.access_token).status == 200
    assert kinds.ACCESS_WIPED not in post.kinds()
    # The number that the attacker gave at the sign-up resets no password for 72 hours.
    assert account().phone_set_by == PhoneSource.SESSION
    assert kinds.EMAIL_CONFIRMED in post.kinds()
    api.log_in()


def test_address_changed_directly_in_the_database_counts_as_unverified(api, attacker, log_in):
    Account.objects.update(verified_email_key=email_key("old@example.com"))
    log_in()

    assert api.post("login", email=ANN, password=PASSWORD).status == 401


def test_user_without_a_password_loses_earlier_sessions_too(api, attacker, log_in):
    user = the_user()
    user.set_unusable_password()
    user.save()
    access_token = log_in(attacker.access_token).data["access_token"]
    Account.objects.update(verified_email_key="", proven_email_key="")

    log_in()

    assert api.get("me", token=access_token).status == 401


def test_required_number_stays_for_the_owner_and_removes_the_attacker(
    api, attacker, log_in, configure
):
    """Without a number the owner could neither log in nor set one."""
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    assert log_in().data["user"]["phone_number"] == PHONE
    assert api.get("me", token=attacker.access_token).status == 401
    assert api.post("login", email=ANN, password=PASSWORD).status == 401


def test_required_email_verification_is_met_by_the_magic_link(api, magic, post, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    api.sign_up()

    answer = magic.follow(magic.mailed().token)

    assert answer.status == 200
    assert answer.data["user"]["email_verified"] is True
