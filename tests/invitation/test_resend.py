"""Cancelling, and sending again: a new link, the old one ended, the expiry renewed."""

import uuid
from datetime import timedelta

import pytest

from tests.invitation.invites import lifetime

pytestmark = pytest.mark.django_db

FORBIDDEN, NOT_FOUND = (403, "FORBIDDEN"), (404, "INVITATION_NOT_FOUND")
NOT_PENDING = (400, "INVITATION_NOT_PENDING")


@pytest.fixture
def logged_in(api, invites, clock):
    """Ann signed in after the clock was stopped."""
    invites.token = api.log_in()["access_token"]


@pytest.fixture(params=["resend", "cancel"])
def change(request, invites):
    return getattr(invites, request.param)


def test_cancel_answers_a_message(invites):
    sent = invites.sent()

    answer = invites.cancel(sent)

    assert (answer.status, answer.data) == (200, {"message": "The invitation was cancelled."})
    assert invites.status(sent) == "cancelled"


def test_cancel_of_an_expired_invitation_is_refused(api, invites, clock, logged_in):
    sent = invites.sent()
    clock.forward(days=7)

    assert invites.cancel(sent, token=api.log_in()["access_token"]).error == NOT_PENDING


def test_resend_makes_a_new_link_and_ends_the_old_one(invites, no_floods):
    sent = invites.sent()
    old = invites.read()

    answer = invites.resend(sent)

    assert (answer.status, answer.data["id"], answer.data["status"]) == (200, sent, "pending")
    assert invites.decline(old).error == NOT_FOUND
    new = invites.read()
    assert invites.decline(old).error == NOT_FOUND
    assert invites.accept_as_new(new).status == 200


def test_resend_renews_the_expiry(api, invites, clock, logged_in):
    clock.stand_still()  # the lifetimes are compared exactly
    sent = invites.sent()
    clock.forward(days=6)
    invites.token = api.log_in()["access_token"]

    assert lifetime(invites.resend(sent)) == timedelta(days=13)
    token = invites.read()
    clock.forward(days=6)
    assert invites.accept_as_new(token).status == 200


def test_expired_invitation_can_be_sent_again(api, invites, clock, logged_in):
    sent = invites.sent()
    clock.forward(days=30)
    invites.token = api.log_in()["access_token"]

    assert invites.resend(sent).data["status"] == "pending"
    assert invites.accept_as_new(invites.read()).status == 200


def test_expired_invitation_is_not_sent_again_beside_a_newer_one(api, invites, clock, logged_in):
    sent = invites.sent()
    clock.forward(days=30)
    invites.token = api.log_in()["access_token"]
    invites.sent()

    assert invites.resend(sent).error == (409, "INVITATION_ALREADY_EXISTS")


def test_expired_invitation_is_not_sent_again_past_the_limit(
    api, invites, clock, invitation, logged_in
):
    sent = invites.sent()
    clock.forward(days=30)
    invites.token = api.log_in()["access_token"]
    invites.sent(purpose="beta")
    invitation(MAX_PENDING_PER_EMAIL=1)

    assert invites.resend(sent).error == (403, "INVITATION_MAX_PENDING")


@pytest.mark.parametrize("closed", ["accept_as_new", "decline", "cancel"])
def test_closed_invitation_is_refused(invites, change, closed):
    sent = invites.sent()
    getattr(invites, closed)(sent if closed == "cancel" else invites.read())

    assert change(sent).error == NOT_PENDING


def test_invitation_of_another_user_is_forbidden(invites, bob, change):
    sent = invites.sent("carol@example.com")

    assert change(sent, token=bob["access_token"]).error == FORBIDDEN
    assert invites.status(sent) == "pending"


@pytest.mark.parametrize("form", ["{}", "{0.hex}", "7", "%00", "\u0660"])
def test_unknown_id_is_not_found(change, form):
    assert change(form.format(uuid.uuid4())).error == NOT_FOUND


def test_id_in_another_form_is_not_found(invites, change):
    sent = invites.sent()

    assert change(sent.upper()).error == NOT_FOUND
    assert change(sent.replace("-", "")).error == NOT_FOUND
