"""A reset of the password removes the access of an attacker who cannot read the mailbox."""

import pytest

from authservice.core.credentials import passwords
from authservice.core.messages import kinds
from authservice.core.models import Account
from authservice.twofactor.models import Authenticator
from tests.core.recovery.thief import THIEFS_PHONE, Thief, log_in, owner_resets
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, PHONE, account, deactivate, move, prove
from tests.support.people import the_user
from tests.support.slots import accessing
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def attacker(api, flows):
    """Signed up with the victim's address, which is not proven."""
    return Thief(flows, api.sign_up()["access_token"])


@pytest.fixture
def thief(api, flows):
    """Stole an access token of a user whose address is proven."""
    token = api.sign_up()["access_token"]
    prove()
    return Thief(flows, token)


def test_reset_by_mail_removes_the_number_set_before_the_address_was_proven(flows, attacker):
    attacker.plant_number()

    owner_resets(flows)

    assert log_in(flows).data["user"]["phone_number"] == ""
    assert not attacker.reset_by_number()


def test_reset_by_mail_removes_the_number_of_the_sign_up_of_an_unproven_address(api, flows):
    token = api.sign_up(phone_number=THIEFS_PHONE)["access_token"]
    attacker = Thief(flows, token)
    flows.verify_phone(flows.phone_code(THIEFS_PHONE), THIEFS_PHONE)

    owner_resets(flows)

    assert not attacker.reset_by_number()


@pytest.mark.parametrize("proven", [False, True])
def test_reset_by_mail_keeps_a_required_number_which_then_resets_no_password(
    flows, attacker, configure, proven
):
    """Without a number the owner could neither log in nor set one."""
    if proven:
        prove()
    attacker.plant_number(password=PASSWORD)
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    owner_resets(flows)

    assert log_in(flows).data["user"]["phone_number"] == THIEFS_PHONE
    assert not attacker.reset_by_number()


def test_reset_by_mail_removes_the_factor_enabled_before_the_address_was_proven(flows, attacker):
    Person(flows.api, token=attacker.token, user_id=str(the_user().pk)).enrol()

    owner_resets(flows)

    assert log_in(flows).data["access_token"]
    assert not Authenticator.objects.exists()


def test_reset_by_mail_keeps_the_factor_of_a_proven_account(flows, thief):
    Person(flows.api, token=thief.token, user_id=str(the_user().pk)).enrol()

    owner_resets(flows)

    assert log_in(flows).data["challenges"]


def test_reset_by_mail_removes_the_number_that_a_thief_added_to_a_proven_account(flows, thief):
    thief.plant_number(password=PASSWORD)

    owner_resets(flows)

    assert account().phone_number == ""
    assert not thief.reset_by_number()


@pytest.mark.parametrize(("hours", "left"), [(71, ""), (73, PHONE)])
def test_reset_by_mail_removes_numbers_of_the_last_72_hours(flows, thief, clock, hours, left):
    thief.token = flows.api.log_in()["access_token"]
    thief.plant_number(PHONE)
    clock.forward(hours=hours)

    owner_resets(flows)

    assert account().phone_number == left


@pytest.mark.parametrize("with_session", [False, True])
def test_reset_by_mail_counts_an_earlier_number_as_added_at_the_first_proof(
    flows, attacker, clock, with_session
):
    """Also if the session that added the number proves the address: it may have been stolen."""
    attacker.token = flows.api.log_in()["access_token"]
    attacker.put(phone=PHONE)
    clock.forward(hours=20)
    session = {"Authorization": f"Bearer {flows.api.log_in()['access_token']}"}
    flows.click(flows.email_token(), Accept="application/json", **(session if with_session else {}))
    assert account().proven_email_key
    clock.forward(hours=71)

    owner_resets(flows)

    assert account().phone_number == ""


def test_reset_by_mail_keeps_the_number_of_the_sign_up(api, flows, proven):
    owner_resets(flows)

    assert account().phone_number == PHONE
    assert account().verified_phone_key == account().phone_key


def test_reset_by_mail_asks_modules_to_revoke_recent_access(flows, thief):
    calls = []
    with accessing(recover=lambda person, since: calls.append(person.email)):
        owner_resets(flows)

    assert calls == [ANN]


def test_reset_by_mail_ends_unused_codes_of_an_unproven_account(flows, attacker):
    attacker.put(phone=THIEFS_PHONE)
    code = flows.phone_code(THIEFS_PHONE)

    owner_resets(flows)

    assert flows.verify_phone(code, THIEFS_PHONE).error == (400, "INVALID_VERIFICATION_CODE")


def test_reset_by_mail_with_a_valid_token_of_the_account_removes_nothing(flows, attacker):
    attacker.plant_number(PHONE)
    body = {"token": flows.reset_token(), "email": ANN, "new_password": NEW}

    flows.api.request("POST", "reset-password", body, token=attacker.token)

    assert account().phone_number == PHONE
    assert account().proven_email_key == account().email_key


def test_reset_by_mail_with_a_valid_token_of_another_account_removes_all(flows, attacker):
    attacker.plant_number()
    eve = flows.api.sign_up("eve@example.com")
    body = {"token": flows.reset_token(), "email": ANN, "new_password": NEW}

    flows.api.request("POST", "reset-password", body, token=eve["access_token"])

    assert account().phone_number == ""


def test_reset_by_mail_removes_nothing_if_the_host_disables_it(flows, attacker, configure):
    configure(CORE={"WIPE_UNPROVEN": False})
    attacker.plant_number(PHONE)
    Account.objects.update(phone_set_by="signup")

    owner_resets(flows)

    assert account().phone_number == PHONE


def test_reset_by_mail_proves_the_address(flows, attacker):
    owner_resets(flows)

    me = flows.api.get("me", token=log_in(flows).data["access_token"])
    assert me.data["email_verified"] is True
    assert account().proven_email_key == account().email_key


def test_reset_by_sms_code_removes_sessions_only(flows, proven):
    flows.reset_by_code(flows.reset_code())

    assert account().phone_number == PHONE
    assert flows.api.get("me", token=proven["access_token"]).error == (401, "INVALID_TOKEN")


def test_reset_that_removes_a_number_notifies_the_owner(flows, thief, post):
    thief.plant_number()
    post.jobs.clear()

    owner_resets(flows)

    assert kinds.ACCESS_REMOVED in post.kinds()
    assert "link" not in post.outgoing(kinds.ACCESS_REMOVED).context


def test_reset_that_removes_nothing_sends_no_notice_of_it(flows, thief, post):
    owner_resets(flows)

    assert kinds.ACCESS_REMOVED not in post.kinds()


def test_reset_refuses_an_address_that_staff_changed_while_the_password_was_hashed(
    flows, thief, monkeypatch
):
    token = flows.reset_token()
    during_the_hash(monkeypatch, lambda: move("eve@example.com"))

    assert flows.reset(token).error == (400, "INVALID_TOKEN")
    assert the_user("eve@example.com").check_password(PASSWORD)


def test_reset_refuses_a_user_deactivated_while_the_password_was_hashed(flows, thief, monkeypatch):
    token = flows.reset_token()
    during_the_hash(monkeypatch, deactivate)

    assert flows.reset(token).error == (400, "INVALID_TOKEN")


def during_the_hash(monkeypatch, change):
    """`change` runs between the check of the link and the transaction that uses it."""
    encoded = passwords.hash_new_password

    def encode(*args, **options):
        change()
        return encoded(*args, **options)

    monkeypatch.setattr(passwords, "hash_new_password", encode)
