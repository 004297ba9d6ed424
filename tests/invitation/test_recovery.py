"""A recovered account: links in its mailbox end, and invitations that an intruder sent."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.core.management import call_command

from authservice import signals
from authservice.core.invitations.closing import InvitationAccess
from authservice.core.messages import kinds
from authservice.core.users import lookup
from authservice.invitation.models import PlatformInvitation
from tests.admin_api.people import promote
from tests.invitation.invites import BOB
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, Flows, prove
from tests.support.people import the_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_floods")]

NOT_FOUND, NOT_PENDING = (404, "INVITATION_NOT_FOUND"), (400, "INVITATION_NOT_PENDING")


@pytest.fixture
def reset(api, post):
    """`reset(email)` resets the password by the mailed link."""
    flows = Flows(api, post)

    def reset(email):
        answer = flows.reset(flows.reset_token(email), email=email)
        assert answer.status == 200, answer.body

    return reset


@pytest.fixture
def change_password(api):
    """`change_password(tokens)` does so in the session of these tokens."""

    def change(tokens):
        body = {"old_password": PASSWORD, "new_password": NEW}
        token = tokens["access_token"]
        assert api.request("PUT", "change-password", body, token=token).status == 200

    return change


@pytest.fixture
def recoveries(api, post, bob, reset, change_password):
    """What Bob, or somebody for him, does against an intruder."""

    def secure():
        change_password(bob)
        link = post.token(kinds.PASSWORD_CHANGED)
        assert api.request("POST", "account/secure", {"token": link}).status == 200

    return {
        "reset": lambda: reset(BOB),
        "change": lambda: change_password(bob),
        "secure": secure,
        "revoke": lambda: call_command("authservice_revoke", user=BOB),
    }


@pytest.mark.parametrize("recovery", ["reset", "change", "secure", "revoke"])
def test_link_mailed_before_a_recovery_does_not_sign_in(invites, recoveries, recovery):
    sent = invites.sent()
    kept = invites.read()
    recoveries[recovery]()

    assert invites.accept(kept).error == NOT_FOUND
    assert invites.status(sent) == "pending"
    invites.resend(sent)
    assert invites.accept(invites.read()).status == 200


def test_link_mailed_before_a_recovery_works_in_an_own_session(api, invites, bob, reset):
    kept = invites.mailed()
    reset(BOB)
    token = api.log_in(BOB, password=NEW)["access_token"]

    assert invites.accept(kept, bearer=token).status == 200


def test_link_mailed_before_the_sign_up_signs_in_until_a_recovery(api, invites, reset):
    first, second = invites.mailed(purpose="a"), invites.mailed(purpose="b")
    api.sign_up(BOB)

    assert invites.accept(first).status == 200
    reset(BOB)
    assert invites.accept(second).error == NOT_FOUND


def test_link_mailed_before_the_sign_up_ends_with_a_changed_password(api, invites, change_password):
    kept = invites.mailed()
    bob = api.sign_up(BOB)
    prove(BOB)
    change_password(bob)

    assert invites.accept(kept).error == NOT_FOUND


@pytest.mark.parametrize("account", ["before", "after"])
def test_account_that_another_person_created_does_not_end_the_link(
    api, invites, change_password, account
):
    """It has the address of the recipient, and its creator cannot prove that."""
    if account == "before":
        other = api.sign_up(BOB)
    kept = invites.mailed()
    if account == "after":
        other = api.sign_up(BOB)
    change_password(other)

    assert invites.accept(kept).status == 200
    assert api.get("me", token=other["access_token"]).error == (401, "INVALID_TOKEN")


@pytest.mark.parametrize("imported", [False, True])
def test_link_stays_ended_if_staff_mark_the_address_as_unverified(
    api, invites, post, reset, imported
):
    bob, flows = api.sign_up(BOB), Flows(api, post)
    if imported:
        prove(BOB)
    else:
        assert flows.click(flows.email_token(BOB), BOB).status == 200
    kept = invites.mailed()
    reset(BOB)
    promote(ANN)
    root, user = api.log_in(ANN)["access_token"], bob["user"]["id"]
    body = {"email_verified": False}
    assert api.request("PUT", f"admin/users/{user}", body, token=root).status == 200

    assert invites.accept(kept).error == NOT_FOUND


def test_better_hash_of_the_same_password_does_not_end_the_link(api, invites, bob):
    weak = make_password(PASSWORD, hasher="pbkdf2_sha256")
    get_user_model().objects.filter(pk=the_user(BOB).pk).update(password=weak)
    kept = invites.mailed()
    api.log_in(BOB)
    assert the_user(BOB).password != weak

    assert invites.accept(kept).status == 200


def test_link_of_an_earlier_release_signs_in(invites, bob):
    kept = invites.mailed()
    PlatformInvitation.objects.update(recipient_version=None, recipient_fingerprint=None)

    assert invites.accept(kept).status == 200


def test_reset_cancels_what_was_sent_in_the_last_three_days(clock, api, invites, reset):
    old, resent = invites.sent(), invites.sent("carol@example.com")
    clock.forward(hours=71)
    invites.token = api.log_in(ANN)["access_token"]
    invites.resend(resent)
    clock.forward(hours=2)
    invites.token = api.log_in(ANN)["access_token"]
    recent = invites.sent("dan@example.com")
    token = invites.read()

    reset(ANN)

    invites.token = api.log_in(ANN, password=NEW)["access_token"]
    assert [invites.status(one) for one in (old, resent, recent)] == [
        *("pending", "cancelled", "cancelled")
    ]
    assert invites.accept_as_new(token).error == NOT_PENDING


def test_reset_cancels_what_was_sent_before_the_lifetime_was_raised(invites, invitation, reset):
    invitation(TTL=timedelta(days=7))
    sent = invites.sent()
    invitation(TTL=timedelta(days=14))

    reset(ANN)

    assert PlatformInvitation.objects.get(pk=sent).status == "cancelled"


def test_recovery_keeps_an_invitation_that_another_user_has_sent_again_meanwhile(invites, bob):
    first, second = invites.sent("carol@example.com"), invites.sent("dan@example.com")
    rows = PlatformInvitation.objects

    def recovered(person, invitation):
        rows.filter(pk=second).update(inviter=the_user(BOB))

    ann = lookup.find_by_email(ANN)
    InvitationAccess(PlatformInvitation, record=recovered, ttl=timedelta).first_proof(ann)

    assert [rows.get(pk=sent).status for sent in (first, second)] == ["cancelled", "pending"]


def test_first_proof_cancels_all_that_was_sent(api, invites, received, reset):
    cancelled = received(signals.invitation_cancelled)
    invites.token = api.sign_up(BOB)["access_token"]  # an attacker, who cannot read the mailbox
    sent = invites.sent("carol@example.com")

    reset(BOB)

    [event] = cancelled
    assert (event.metadata["invitation"], event.metadata["reason"]) == (sent, "recovery")
