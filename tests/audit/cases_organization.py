"""Requests to the routes of organizations, and the audit entries that they write."""

from __future__ import annotations

from functools import partial

from authservice.organization.models import Membership
from tests.audit.acme import (
    CREATE,
    EVE,
    LIST,
    LOGS,
    MEMBER,
    MEMBERS,
    ORG,
    SCOPED,
    SWITCH,
    UNKNOWN,
    Acme,
    act,
    bob_id,
)
from tests.audit.world import BOB, case, silent
from tests.support.client import PASSWORD

for route in SCOPED:

    def permitted(world, route=route):
        return act(Acme(world).join(BOB), route)

    def unknown_organization(world, route=route):
        return act(Acme(world, UNKNOWN), route, invitation=UNKNOWN)

    def organization_of_others(world, route=route):
        return act(Acme(world), route, token=world.bob["access_token"])

    def role_too_low(world, route=route):
        acme = Acme(world).join(BOB)
        if route in (f"GET {ORG}", f"GET {MEMBERS}", f"GET {MEMBER}", f"DELETE {MEMBER}"):
            Membership.objects.filter(user=bob_id(world)).update(role="gone")
        ann = world.ann_id
        return act(acme, route, token=world.bob["access_token"], user=ann)

    case(route, *filter(None, [LOGS.get(route)]))(permitted)
    case(route, code="ORG_NOT_FOUND")(unknown_organization)
    case(route, code="ORG_NOT_MEMBER")(organization_of_others)
    case(route, code="ORG_INSUFFICIENT_ROLE")(role_too_low)

for route in (f"GET {MEMBER}", f"PUT {MEMBER}", f"DELETE {MEMBER}"):

    def unknown_member(world, route=route):
        return act(Acme(world), route)

    case(route, code="ORG_MEMBER_NOT_FOUND")(unknown_member)

for route in (f"PUT {MEMBER}", f"DELETE {MEMBER}"):

    def last_owner(world, route=route):
        return act(Acme(world), route, user=world.ann_id)

    case(route, code="ORG_CANNOT_REMOVE_OWNER")(last_owner)


@case(f"DELETE {MEMBER}", "org.member.removed bob bob")
def leaving(world):
    ask = partial(Acme(world).join(BOB).ask, "DELETE", token=world.bob["access_token"])
    return partial(ask, f"/members/{bob_id(world)}")


# Creating and switching


@case(CREATE, "org.created ann new_user")
def creation(world):
    return partial(world.as_ann, "POST", "org", name="Acme")


@case(CREATE, code="ORG_SLUG_TAKEN")
def creation_with_a_taken_slug(world):
    Acme(world)
    return partial(world.as_ann, "POST", "org", name="Other", slug="acme")


@case(CREATE, code="ORG_MAX_PER_USER")
def creation_past_the_limit(world):
    Acme(world)
    world.configure(ORGANIZATION={"MAX_PER_USER": 1})
    return partial(world.as_ann, "POST", "org", name="Other")


@case(CREATE, code="FORBIDDEN")
def creation_by_a_user_who_may_not_create(world):
    world.configure(ORGANIZATION={"WHO_MAY_CREATE": "super_admins"})
    return partial(world.as_ann, "POST", "org", name="Acme")


@case("POST /signup", "auth.signup new_user", "org.created new_user new_user")
def signup_with_an_organization(world):
    world.configure(ORGANIZATION={"AUTO_CREATE": True})
    return partial(world.api.post, "signup", email=EVE, password=PASSWORD)


@case(SWITCH, "org.switched ann new_user")
def switch(world):
    return partial(world.as_ann, "POST", "org/switch", org_id=Acme(world).id)


@case(SWITCH, "org.switched ann new_user")
def switch_with_the_refresh_token(world):
    sent = {"org_id": Acme(world).id, "refresh_token": world.ann["refresh_token"]}
    return partial(world.as_ann, "POST", "org/switch", **sent)


@case(SWITCH, code="INVALID_REFRESH_TOKEN")
def switch_with_a_replaced_refresh_token(world):
    return partial(
        world.as_ann, "POST", "org/switch", org_id=Acme(world).id, refresh_token="nonsense"
    )


@case(SWITCH, code="ORG_NOT_FOUND")
def switch_to_an_unknown_organization(world):
    return partial(world.as_ann, "POST", "org/switch", org_id=UNKNOWN)


@case(SWITCH, code="ORG_NOT_MEMBER")
def switch_to_an_organization_of_others(world):
    acme = Acme(world)
    bob = world.bob["access_token"]
    return partial(world.api.request, "POST", "org/switch", {"org_id": acme.id}, token=bob)


@case(SWITCH, code="ORG_INSUFFICIENT_ROLE")
def switch_with_an_unknown_role(world):
    acme = Acme(world)
    Membership.objects.update(role="gone")
    return partial(world.as_ann, "POST", "org/switch", org_id=acme.id)


silent(LIST, lambda world: world.as_ann("GET", "org/my"))
silent("GET /org/my/invitations", lambda world: world.as_ann("GET", "org/my/invitations"))
