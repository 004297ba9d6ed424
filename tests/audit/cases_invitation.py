"""Requests to the routes of invitations, and the audit entries that they write."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from authservice.core.models import Account
from authservice.core.users.identifiers import email_key
from authservice.invitation.models import PlatformInvitation
from tests.audit.world import BOB, case, silent
from tests.invitation.invites import Invites
from tests.support.client import Answer
from tests.support.flows import deactivate, prove

EVE = "eve@example.com"
SEND, ACCEPT, DECLINE = "POST /invitations", "POST /invitations/accept", "POST /invitations/decline"
CANCEL, RESEND = "DELETE /invitations/{invitation_id}", "POST /invitations/{invitation_id}/resend"
SENT, CANCELLED = "invitation.sent ann", "invitation.cancelled ann"
JOINED = ("auth.signup new_user", "user.email.verified new_user")
ACCEPTED_AS_NEW = (*JOINED, "invitation.accepted new_user ann", "auth.login.success new_user")


def invites(world):
    return Invites(world.api, world.post, world.token)


def changes(world):
    by = invites(world)
    return {CANCEL: by.cancel, RESEND: by.resend}


def answers(world):
    by = invites(world)
    return {ACCEPT: by.accept_as_new, DECLINE: by.decline}


@case(SEND, SENT)
def invitation(world):
    return lambda: invites(world).send(EVE)


@case(SEND, code="INVITATION_ALREADY_EXISTS")
def second_invitation(world):
    invites(world).sent(EVE)
    return lambda: invites(world).send(EVE)


@case(SEND, code="INVITATION_MAX_PENDING")
def invitation_past_the_limit_of_the_address(world):
    world.configure(INVITATION={"MAX_PENDING_PER_EMAIL": 1})
    invites(world).sent(EVE)
    return lambda: invites(world).send(EVE, purpose="beta")


@case(SEND, code="FORBIDDEN")
def invitation_of_a_user_who_may_not_invite(world):
    world.configure(INVITATION={"WHO_MAY_INVITE": "super_admins"})
    return lambda: invites(world).send(EVE)


@case(SEND, code="EMAIL_NOT_CONFIGURED")
def invitation_without_messenger(world):
    world.disable_messenger()
    return lambda: invites(world).send(EVE)


@case(RESEND, SENT)
def invitation_sent_again(world):
    sent = invites(world).sent(EVE)
    return lambda: invites(world).resend(sent)


@case(RESEND, code="EMAIL_NOT_CONFIGURED")
def invitation_sent_again_without_messenger(world):
    sent = invites(world).sent(EVE)
    world.disable_messenger()
    return lambda: invites(world).resend(sent)


def expired(world, **more):
    """An expired invitation, and a newer one."""
    sent = invites(world).sent(EVE)
    yesterday = timezone.now() - timedelta(days=1)
    PlatformInvitation.objects.filter(pk=sent).update(expires_at=yesterday)
    invites(world).sent(EVE, **more)
    return sent


@case(RESEND, code="INVITATION_ALREADY_EXISTS")
def expired_invitation_beside_a_newer_one(world):
    sent = expired(world)
    return lambda: invites(world).resend(sent)


@case(RESEND, code="INVITATION_MAX_PENDING")
def expired_invitation_past_the_limit_of_the_address(world):
    sent = expired(world, purpose="beta")
    world.configure(INVITATION={"MAX_PENDING_PER_EMAIL": 1})
    return lambda: invites(world).resend(sent)


@case(CANCEL, CANCELLED)
def cancellation(world):
    sent = invites(world).sent(EVE)
    return lambda: invites(world).cancel(sent)


for route in (CANCEL, RESEND):

    def unknown_invitation(world, route=route):
        return lambda: changes(world)[route]("7")

    def invitation_of_another_user(world, route=route):
        sent = invites(world).sent(EVE)
        bob = world.bob["access_token"]
        return lambda: changes(world)[route](sent, token=bob)

    def closed_invitation(world, route=route):
        sent = invites(world).sent(EVE)
        invites(world).cancel(sent)
        return lambda: changes(world)[route](sent)

    case(route, code="INVITATION_NOT_FOUND")(unknown_invitation)
    case(route, code="FORBIDDEN")(invitation_of_another_user)
    case(route, code="INVITATION_NOT_PENDING")(closed_invitation)


@case(ACCEPT, *ACCEPTED_AS_NEW)
def accept_of_a_new_user(world):
    token = invites(world).mailed(EVE)
    return lambda: invites(world).accept_as_new(token)


def bob_invited(world, *, proven=True):
    assert world.bob
    if proven:
        prove(BOB)
    return invites(world).mailed(BOB)


NEW = "security.new_device bob"


@case(ACCEPT, "invitation.accepted bob ann", NEW, "auth.login.success bob")
def accept_with_an_account(world):
    token = bob_invited(world)
    return lambda: invites(world).accept(token)


@case(
    ACCEPT,
    "security.session.revoked bob",
    "user.email.verified bob",
    "invitation.accepted bob ann",
    NEW,
    "auth.login.success bob",
)
def accept_with_an_unproven_account(world):
    token = bob_invited(world, proven=False)
    return lambda: invites(world).accept(token)


@case(ACCEPT, "invitation.accepted bob ann")
def accept_in_a_session(world):
    token, bearer = bob_invited(world), world.bob["access_token"]
    return lambda: invites(world).accept(token, bearer=bearer)


@case(ACCEPT, code="INVALID_REFRESH_TOKEN")
def accept_in_a_session_with_a_replaced_refresh_token(world):
    token, bearer = bob_invited(world), world.bob["access_token"]
    return lambda: invites(world).accept(token, bearer=bearer, refresh_token="nonsense")


@case(ACCEPT, "auth.login.failed bob", code="USER_NOT_ACTIVE")
def accept_of_a_suspended_user(world):
    token = bob_invited(world)
    deactivate(BOB)
    return lambda: invites(world).accept(token)


@case(ACCEPT, "auth.login.failed bob", code="PHONE_NOT_VERIFIED")
def accept_with_unverified_number(world):
    token = bob_invited(world)
    world.configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})
    return lambda: invites(world).accept(token)


@case(ACCEPT, code="INVALID_PASSWORD")
def accept_with_a_weak_password(world):
    token = invites(world).mailed(EVE)
    return lambda: invites(world).accept_as_new(token, password="short")


@case(ACCEPT, code="SERVICE_UNAVAILABLE")
def accept_while_hash_slots_are_taken(world):
    token = invites(world).mailed(EVE)
    world.occupy_hash_slots()
    return lambda: invites(world).accept_as_new(token)


@case(ACCEPT, code="USER_ALREADY_EXISTS")
def accept_of_an_address_that_two_users_claim(world):
    """The project gave them the same address, so neither is found by it."""
    token = invites(world).mailed(EVE)
    assert world.bob
    Account.objects.update(email_claim=email_key(EVE))
    return lambda: invites(world).accept_as_new(token)


@case(DECLINE, "invitation.declined user ann")
def decline_without_an_account(world):
    token = invites(world).mailed(EVE)
    return lambda: invites(world).decline(token)


@case(DECLINE, "invitation.declined bob ann")
def decline_with_an_account(world):
    token = bob_invited(world)
    return lambda: invites(world).decline(token)


for route in (ACCEPT, DECLINE):

    def unknown_token(world, route=route):
        return lambda: answers(world)[route]("x" * 43)

    def answered_invitation(world, route=route):
        token = invites(world).mailed(EVE)
        invites(world).decline(token)
        return lambda: answers(world)[route](token)

    def expired_invitation(world, route=route):
        token = invites(world).mailed(EVE)
        PlatformInvitation.objects.update(expires_at=timezone.now() - timedelta(days=1))
        return lambda: answers(world)[route](token)

    case(route, code="INVITATION_NOT_FOUND")(unknown_token)
    case(route, code="INVITATION_NOT_PENDING")(answered_invitation)
    case(route, code="INVITATION_EXPIRED")(expired_invitation)


def listed(world) -> Answer:
    return world.as_ann("GET", "invitations")


def listed_own(world) -> Answer:
    return world.as_ann("GET", "invitations/my")


silent("GET /invitations", listed)
silent("GET /invitations/my", listed_own)
