"""What recoveries of an account remove of its passkeys."""

from datetime import timedelta

import pytest
from django.db import transaction

from authservice.core.messages import kinds
from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.kernel import clock as source
from authservice.passkeys.models import Passkey
from authservice.passkeys.own_passkeys import MAIL_ADDED
from authservice.passkeys.passkey_login import account_access, second_factor
from tests.passkeys.authenticator import UP, Authenticator
from tests.support.client import PASSWORD
from tests.support.flows import NEW, Flows

pytestmark = pytest.mark.django_db


@pytest.fixture
def person():
    return lambda: lookup.find_by_email("ann@example.com")


@pytest.fixture
def flows(api, post):
    return Flows(api, post)


def call(rule, *given):
    with transaction.atomic():
        return rule(*given)


def aged(**age):
    """The passkeys and the proof of the address are older now."""
    before = source.now() - timedelta(**age)
    Passkey.objects.update(created_at=before)
    Account.objects.update(email_proven_at=before)


def names():
    return sorted(Passkey.objects.values_list("name", flat=True))


def test_link_of_the_notice_removes_the_passkey(ann, api, post):
    ann.enrol(name="Intruder")

    answer = api.request(
        "POST", "account/secure", {"token": post.token(MAIL_ADDED), "new_password": NEW}
    )

    assert answer.status == 200, answer.body
    assert names() == []


def test_passkey_from_before_the_change_survives_the_link_of_a_notice(ann, post, flows, api):
    ann.enrol(name="Old")
    aged(days=4)
    ann.enrol(name="New")

    api.request("POST", "account/secure", {"token": post.token(MAIL_ADDED), "new_password": NEW})

    assert names() == ["Old"]


def test_password_reset_removes_recent_passkeys(ann, flows):
    ann.enrol(name="Old")
    aged(days=4)
    ann.enrol(name="New")

    assert flows.reset(flows.reset_token()).status == 200

    assert names() == ["Old"]


def test_password_reset_leaves_a_second_factor_which_no_longer_logs_in_alone(ann, flows):
    """A mailbox is one factor: it must not remove the other one."""
    aged(days=4)
    ann.enrol(second_factor=True)

    assert flows.reset(flows.reset_token()).status == 200

    passkey = Passkey.objects.get()
    assert (passkey.second_factor, passkey.verifies) == (True, False)
    assert ann.log_in().error == (401, "PASSKEY_INVALID")


def test_first_proof_removes_all_passkeys(bob, api, flows):
    bob.enrol(name="Intruder")

    flows.click(flows.email_token(bob.email), bob.email)
    assert flows.reset(flows.reset_token(bob.email), email=bob.email).status == 200

    assert names() == []


@pytest.mark.parametrize("second_factor", [False, True])
def test_link_that_only_confirms_an_address_leaves_passkeys_to_the_mail_about_it(
    bob, api, flows, post, second_factor
):
    """Bob is an attacker who signed up with the address of another person."""
    bob.enrol(name="Intruder", second_factor=second_factor)

    confirmed = flows.click(flows.email_token(bob.email), bob.email, Accept="application/json")

    assert confirmed.status == 200
    assert names() == ["Intruder"]
    assert bob.log_in().status == 200
    token = post.token(kinds.EMAIL_CONFIRMED)
    assert api.request("POST", "account/secure", {"token": token}).status == 200
    assert names() == []
    assert bob.get("me").status == 401


def test_first_proof_counts_what_it_removed(ann, person, events):
    ann.enrol()

    assert call(account_access.first_proof, person()) is True
    assert call(account_access.first_proof, person()) is False
    (event,) = events("auth.passkey.removed")
    assert event.metadata["reason"] == "unproven"


def test_recovery_says_whether_there_was_anything(ann, person):
    since = source.now() - timedelta(days=3)
    assert call(account_access.recover, person(), since) is False
    ann.enrol()
    assert call(account_access.recover, person(), since) is True
    assert names() == []


def test_factors_are_revoked_since_a_time(ann, person):
    ann.enrol(name="Old", second_factor=True)
    aged(days=4)
    since = source.now() - timedelta(days=3)

    assert call(second_factor.revoke, person(), since) is False
    assert call(second_factor.revoke, person(), None) is True
    assert names() == []


def test_passkey_from_before_the_proof_counts_as_recent(ann, person):
    ann.enrol()
    Passkey.objects.update(created_at=source.now() - timedelta(days=4))
    Account.objects.update(email_proven_at=source.now())

    assert call(account_access.distrust, person()) is True
    assert call(account_access.recover, person(), source.now() - timedelta(days=3)) is True


def test_passkey_is_a_way_to_log_in(ann, person):
    assert account_access.can_log_in(person()) is False
    ann.enrol()
    assert account_access.can_log_in(person()) is True


def test_bare_key_is_no_way_to_log_in(ann, person):
    ann.device = Authenticator(flags=UP)
    ann.enrol(second_factor=True)

    assert account_access.can_log_in(person()) is False


@pytest.mark.parametrize("kind", [kinds.EMAIL_CHANGE_REQUESTED, kinds.EMAIL_CHANGED])
def test_passkey_of_the_owner_survives_a_change_of_the_address_by_an_intruder(ann, api, post, kind):
    """The proof of the other address is newer than the passkey, but it is the intruder's."""
    ann.enrol(name="Old")
    aged(days=4)
    ann.post("change-email", email="eve@example.com", password=PASSWORD)
    api.request("POST", "change-email/confirm", {"token": post.token(kinds.CHANGE_EMAIL)})

    secured = api.request("POST", "account/secure", {"token": post.token(kind)})

    assert secured.status == 200
    assert lookup.find_by_email("ann@example.com") is not None
    assert names() == ["Old"]
