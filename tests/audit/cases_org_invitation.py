"""Requests about invitations to organizations, and the audit entries that they write."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

from django.utils import timezone

from authservice.core.models import Account
from authservice.core.users.identifiers import email_key
from authservice.organization.models import Organization, OrganizationInvitation
from tests.audit.acme import ACCEPT, DECLINE, EVE, INVITE, ONE, UNKNOWN, Acme, act
from tests.audit.world import BOB, World, case
from tests.support.client import PASSWORD
from tests.support.flows import deactivate, prove

# Inviting


def resend(acme: Acme) -> Any:
    return partial(acme.ask, "POST", f"/invitations/{acme.invited}/resend")


for route in (INVITE, f"POST {ONE}/resend"):

    def member_already(world, route=route):
        acme = Acme(world)
        asked = act(acme, route)
        assert acme.world.api.sign_up(EVE)
        acme.join(EVE)
        return asked

    def full_organization(world, route=route):
        asked = act(Acme(world), route)
        world.configure(ORGANIZATION={"MAX_MEMBERS": 1})
        return asked

    def no_messenger(world, route=route):
        asked = act(Acme(world), route)
        world.disable_messenger()
        return asked

    def second_invitation(world, route=route):
        acme = Acme(world)
        asked = act(acme, route)
        assert acme.invited
        if route != INVITE:
            yesterday = timezone.now() - timedelta(days=1)
            OrganizationInvitation.objects.update(expires_at=yesterday)
            acme.ask("POST", "/invite", email=EVE)
        return asked

    case(route, code="ORG_MEMBER_EXISTS")(member_already)
    case(route, code="ORG_MAX_MEMBERS")(full_organization)
    case(route, code="EMAIL_NOT_CONFIGURED")(no_messenger)
    case(route, code="INVITATION_ALREADY_EXISTS")(second_invitation)

for route in (f"DELETE {ONE}", f"POST {ONE}/resend"):

    def unknown_invitation(world, route=route):
        return act(Acme(world), route, invitation=UNKNOWN)

    def closed_invitation(world, route=route):
        acme = Acme(world)
        acme.ask("DELETE", f"/invitations/{acme.invited}")
        return act(acme, route)

    case(route, code="INVITATION_NOT_FOUND")(unknown_invitation)
    case(route, code="INVITATION_NOT_PENDING")(closed_invitation)


# Answering


def answering(world: World, route: str, token: str, bearer: str = "", **more: Any) -> Any:
    path, body = route.removeprefix("POST /"), {"token": token}
    profile = {"name": "Eve", "password": PASSWORD} if route == ACCEPT else {}
    return partial(world.api.request, "POST", path, {**body, **profile, **more}, token=bearer)


@case(
    ACCEPT,
    "auth.signup new_user",
    "user.email.verified new_user",
    "org.invitation.accepted new_user new_user",
    "org.member.added new_user new_user",
    "auth.login.success new_user",
)
def accept_of_a_new_user(world):
    return answering(world, ACCEPT, Acme(world).token())


def of_bob(world: World) -> str:
    assert world.bob
    prove(BOB)
    return Acme(world).token(BOB)


JOINED = ("org.invitation.accepted bob new_user", "org.member.added bob bob")


@case(ACCEPT, *JOINED, "security.new_device bob", "auth.login.success bob")
def accept_with_an_account(world):
    return answering(world, ACCEPT, of_bob(world))


@case(ACCEPT, *JOINED)
def accept_in_a_session(world):
    return answering(world, ACCEPT, of_bob(world), world.bob["access_token"])


@case(ACCEPT, code="INVALID_REFRESH_TOKEN")
def accept_in_a_session_with_a_replaced_refresh_token(world):
    bearer = world.bob["access_token"]
    return answering(world, ACCEPT, of_bob(world), bearer, refresh_token="nonsense")


@case(ACCEPT, "auth.login.failed bob", code="USER_NOT_ACTIVE")
def accept_of_a_suspended_user(world):
    token = of_bob(world)
    deactivate(BOB)
    return answering(world, ACCEPT, token)


@case(ACCEPT, "auth.login.failed bob", code="PHONE_NOT_VERIFIED")
def accept_with_unverified_number(world):
    token = of_bob(world)
    world.configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})
    return answering(world, ACCEPT, token)


@case(ACCEPT, code="ORG_MEMBER_EXISTS")
def accept_of_a_member(world):
    token = of_bob(world)
    Acme(world, str(Organization.objects.get().pk)).join(BOB)
    return answering(world, ACCEPT, token)


@case(ACCEPT, code="ORG_MAX_MEMBERS")
def accept_into_a_full_organization(world):
    token = of_bob(world)
    world.configure(ORGANIZATION={"MAX_MEMBERS": 1})
    return answering(world, ACCEPT, token)


@case(ACCEPT, code="INVALID_PASSWORD")
def accept_with_a_weak_password(world):
    return answering(world, ACCEPT, Acme(world).token(), password="short")


@case(ACCEPT, code="SERVICE_UNAVAILABLE")
def accept_while_hash_slots_are_taken(world):
    token = Acme(world).token()
    world.occupy_hash_slots()
    return answering(world, ACCEPT, token)


@case(ACCEPT, code="USER_ALREADY_EXISTS")
def accept_of_an_address_that_two_users_claim(world):
    token = Acme(world).token()
    assert world.bob
    Account.objects.update(email_claim=email_key(EVE))
    return answering(world, ACCEPT, token)


@case(DECLINE, "org.invitation.declined user new_user")
def decline_without_an_account(world):
    return answering(world, DECLINE, Acme(world).token())


for route in (ACCEPT, DECLINE):

    def unknown_token(world, route=route):
        return answering(world, route, "x" * 43)

    def answered_invitation(world, route=route):
        token = Acme(world).token()
        answering(world, DECLINE, token)()
        return answering(world, route, token)

    def expired_invitation(world, route=route):
        token = Acme(world).token()
        OrganizationInvitation.objects.update(expires_at=timezone.now() - timedelta(days=1))
        return answering(world, route, token)

    case(route, code="INVITATION_NOT_FOUND")(unknown_token)
    case(route, code="INVITATION_NOT_PENDING")(answered_invitation)
    case(route, code="INVITATION_EXPIRED")(expired_invitation)
