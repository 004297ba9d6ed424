"""A reset of the password evicts an intruder who has no access to the mailbox."""

import pytest

from authservice.core.credentials import passwords
from authservice.core.models import Account
from authservice.kernel import message_queue
from authservice.kernel.modules import plugged
from authservice.twofactor.models import Authenticator
from tests.client import PASSWORD
from tests.people import the_user
from tests.recovery.flows import ANN, NEW, PHONE, account, deactivate, move, prove
from tests.recovery.thief import THIEFS_PHONE, Thief, log_in, owner_resets
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def squatter(api, flows):
    """Signed up with the victim's address, which nobody proved."""
    return Thief(flows, api.sign_up()["access_token"])


@pytest.fixture
def thief(api, flows):
    """Stole an access token of a user whose address is proven."""
    token = api.sign_up()["access_token"]
    prove()
    return Thief(flows, token)


def test_reset_by_mail_removes_the_number_planted_before_the_address_was_proven(flows, squatter):
    squatter.plant_number()

    owner_resets(flows)

    assert log_in(flows).data["user"]["phone_number"] == ""
    assert not squatter.reset_by_number()


def test_reset_by_mail_removes_a_number_of_the_sign_up_that_was_never_proven_to_be_the_owners(
    api, flows
):
    token = api.sign_up(phone_number=THIEFS_PHONE)["access_token"]
    squatter = Thief(flows, token)
    flows.verify_phone(flows.phone_code(THIEFS_PHONE), THIEFS_PHONE)

    owner_resets(flows)

    assert not squatter.reset_by_number()


def test_reset_by_mail_removes_the_factor_planted_before_the_address_was_proven(flows, squatter):
    Person(flows.api, token=squatter.token, user_id=str(the_user().pk)).enrol()

    owner_resets(flows)

    assert log_in(flows).data["access_token"]
    assert not Authenticator.objects.exists()


def test_reset_by_mail_keeps_the_factor_of_a_proven_account(flows, thief):
    Person(flows.api, token=thief.token, user_id=str(the_user().pk)).enrol()

    owner_resets(flows)

    assert log_in(flows).data["challenges"]


def test_reset_by_mail_removes_the_number_a_thief_added_to_a_proven_account(flows, thief):
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


def test_reset_by_mail_counts_a_number_from_before_the_proof_as_added_at_the_proof(
    flows, squatter, clock
):
    squatter.token = flows.api.log_in()["access_token"]
    squatter.put(phone=PHONE)
    clock.forward(hours=20)
    flows.click(flows.email_token(), Accept="application/json")
    assert account().proven_email_key
    clock.forward(hours=71)

    owner_resets(flows)

    assert account().phone_number == ""


def test_reset_by_mail_keeps_the_number_of_the_sign_up(api, flows, proven):
    owner_resets(flows)

    assert account().phone_number == PHONE
    assert account().verified_phone_key == account().phone_key


def test_reset_by_mail_asks_modules_for_what_was_added_recently(flows, thief):
    asked = []
    with plugged("revoke_recent_access", lambda person, since: asked.append(person.email)):
        owner_resets(flows)

    assert asked == [ANN]


def test_reset_by_mail_ends_open_tokens_of_an_unproven_account(flows, squatter):
    squatter.put(phone=THIEFS_PHONE)
    code = flows.phone_code(THIEFS_PHONE)

    owner_resets(flows)

    assert flows.verify_phone(code, THIEFS_PHONE).error == (400, "INVALID_VERIFICATION_CODE")


def test_reset_by_mail_with_a_live_token_of_the_account_removes_nothing(flows, squatter):
    squatter.plant_number(PHONE)
    body = {"token": flows.reset_token(), "email": ANN, "new_password": NEW}

    flows.api.request("POST", "reset-password", body, token=squatter.token)

    assert account().phone_number == PHONE
    assert account().proven_email_key == account().email_key


def test_reset_by_mail_with_a_live_token_of_another_account_removes_all(flows, squatter):
    squatter.plant_number()
    eve = flows.api.sign_up("eve@example.com")
    body = {"token": flows.reset_token(), "email": ANN, "new_password": NEW}

    flows.api.request("POST", "reset-password", body, token=eve["access_token"])

    assert account().phone_number == ""


def test_reset_by_mail_removes_nothing_where_the_host_says_so(flows, squatter, configure):
    configure(CORE={"WIPE_UNPROVEN": False})
    squatter.plant_number(PHONE)
    Account.objects.update(phone_set_by="signup")

    owner_resets(flows)

    assert account().phone_number == PHONE


def test_reset_by_mail_proves_the_address(flows, squatter):
    owner_resets(flows)

    me = flows.api.get("me", token=log_in(flows).data["access_token"])
    assert me.data["email_verified"] is True
    assert account().proven_email_key == account().email_key


def test_reset_by_texted_code_removes_sessions_only(flows, proven):
    flows.reset_by_code(flows.reset_code())

    assert account().phone_number == PHONE
    assert flows.api.get("me", token=proven["access_token"]).error == (401, "INVALID_TOKEN")


def test_reset_that_removed_a_number_tells_the_owner(flows, thief, post):
    thief.plant_number()
    post.jobs.clear()

    owner_resets(flows)

    assert message_queue.ACCESS_REMOVED in post.kinds()
    assert "link" not in post.letter(message_queue.ACCESS_REMOVED).context


def test_reset_that_removed_nothing_sends_no_notice_of_it(flows, thief, post):
    owner_resets(flows)

    assert message_queue.ACCESS_REMOVED not in post.kinds()


def test_reset_refuses_an_address_that_staff_changed_while_the_password_was_hashed(
    flows, thief, monkeypatch
):
    token = flows.reset_token()
    during_the_hash(monkeypatch, lambda: move("eve@example.com"))

    assert flows.reset(token).error == (400, "INVALID_TOKEN")
    assert the_user("eve@example.com").check_password(PASSWORD)


def test_reset_refuses_a_user_suspended_while_the_password_was_hashed(flows, thief, monkeypatch):
    token = flows.reset_token()
    during_the_hash(monkeypatch, deactivate)

    assert flows.reset(token).error == (400, "INVALID_TOKEN")


def during_the_hash(monkeypatch, change):
    """`change` runs between the check of the link and the transaction that spends it."""
    encoded = passwords.hash_new_password

    def encode(*args, **options):
        change()
        return encoded(*args, **options)

    monkeypatch.setattr(passwords, "hash_new_password", encode)
