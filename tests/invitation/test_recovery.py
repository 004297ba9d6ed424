"""A recovered account: links in its mailbox end, and invitations that an intruder sent."""

import pytest
from django.core.management import call_command

from authservice import signals
from authservice.invitation.models import PlatformInvitation
from authservice.kernel import message_queue
from tests.invitation.invites import BOB
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, Flows

pytestmark = pytest.mark.django_db

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
def recoveries(api, post, bob, reset):
    """What Bob, or somebody for him, does against an intruder."""
    token = bob["access_token"]

    def change_password():
        body = {"old_password": PASSWORD, "new_password": NEW}
        assert api.request("PUT", "change-password", body, token=token).status == 200

    def secure():
        change_password()
        link = post.token(message_queue.PASSWORD_CHANGED)
        assert api.request("POST", "account/secure", {"token": link}).status == 200

    return {
        "reset": lambda: reset(BOB),
        "change": change_password,
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


def test_first_proof_cancels_all_that_was_sent(api, invites, received, reset):
    cancelled = received(signals.invitation_cancelled)
    invites.token = api.sign_up(BOB)["access_token"]  # an attacker, who cannot read the mailbox
    sent = invites.sent("carol@example.com")

    reset(BOB)

    [event] = cancelled
    assert (event.metadata["invitation"], event.metadata["reason"]) == (sent, "recovery")
