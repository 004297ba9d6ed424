"""Actor, target and action, each cell against the one table of roles.

The expected response is computed from `roles.ROLES` and the rules that hold for every role: unknown
before not a member, own membership may always be ended, the last owner stays.
"""

from dataclasses import dataclass
from datetime import timedelta
from itertools import product

import pytest
from django.utils import timezone

from authservice.core.users.identifiers import email_key
from authservice.organization import roles
from authservice.organization.models import Membership, Organization, OrganizationInvitation
from authservice.organization.roles import OWNER, ROLES, Permission
from tests.admin_api.people import promote
from tests.organization.inside.people import Person, join, role_of
from tests.support.flows import deactivate

pytestmark = pytest.mark.django_db

NOT_MEMBER = (403, "ORG_NOT_MEMBER")
TOO_LOW = (403, "ORG_INSUFFICIENT_ROLE")
LAST = (403, "ORG_CANNOT_REMOVE_OWNER")
ENDED = (401, "INVALID_TOKEN")
OK = (200, "")
OUTSIDE = ("non-member", "ex-member", "deactivated", "super admin")
# Each member, the only owner, and users who are not members (any more).
ACTORS = (*ROLES, "last owner", *OUTSIDE)
SCOPED = {
    "GET": ("", None, Permission.READ),
    "GET members": ("/members", None, Permission.READ),
    "PUT": ("", {"name": "New"}, Permission.UPDATE),
    "DELETE": ("", None, Permission.DELETE),
}


@dataclass
class World:
    acme: str
    actor: Person
    role: str  # empty for a user who is not a member
    refused: tuple[int, str] | None


@pytest.fixture
def world(api, request):
    """An organization with another owner, unless the actor is the last one."""
    kind = request.param
    founder = Person(api, "founder")
    acme = founder.found("Acme")
    if kind == "last owner":
        return World(acme, founder, OWNER, None)
    actor = Person(api, "actor")
    if kind in ROLES:
        join(acme, actor, kind)
        return World(acme, actor, kind, None)
    if kind == "ex-member":
        join(acme, actor, OWNER)
        founder.delete(f"org/{acme}/members/{actor.id}")
    if kind == "deactivated":
        join(acme, actor, OWNER)
        deactivate(actor.email)
    if kind == "super admin":
        promote(actor.email)
    return World(acme, actor, "", ENDED if kind == "deactivated" else NOT_MEMBER)


each_actor = pytest.mark.parametrize("world", ACTORS, indirect=True)


@each_actor
def test_actions_on_the_organization_agree_with_the_table(world):
    for action, (path, body, permission) in SCOPED.items():
        answer = world.actor.request(action.split()[0], f"org/{world.acme}{path}", body)

        permitted = OK if roles.permits(world.role, permission) else TOO_LOW
        assert error(answer) == (world.refused or permitted), action


@each_actor
def test_switch_agrees_with_the_table(world):
    answer = world.actor.switch(world.acme)

    permitted = OK if roles.permits(world.role, Permission.SWITCH) else TOO_LOW
    assert error(answer) == (world.refused or permitted)


@pytest.fixture
def target(api, world):
    """`target("admin")` is a further member, who has this role from now on."""
    person = Person(api, "target")

    def having(role):
        Membership.objects.filter(user=person.user).delete()
        join(world.acme, person, role)
        return person

    return having


@each_actor
def test_changes_of_roles_agree_with_the_table(world, target):
    changes = roles.permits(world.role, Permission.CHANGE_ROLES)

    for before, given in product(ROLES, ROLES):
        person = target(before)
        answer = world.actor.put(f"org/{world.acme}/members/{person.id}", role=given)

        permitted = OK if changes and roles.manages(world.role, before, given) else TOO_LOW
        assert error(answer) == (world.refused or permitted), (before, given)
        assert role_of(world.acme, person) == (given if answer.status == 200 else before)


@each_actor
def test_removals_agree_with_the_table(world, target):
    removes = roles.permits(world.role, Permission.REMOVE)

    for before in ROLES:
        person = target(before)
        answer = world.actor.delete(f"org/{world.acme}/members/{person.id}")

        permitted = OK if removes and roles.manages(world.role, before) else TOO_LOW
        assert error(answer) == (world.refused or permitted), before
        assert role_of(world.acme, person) == ("" if answer.status == 200 else before)


@each_actor
def test_invitations_agree_with_the_table(world, configure):
    configure(THROTTLE={"ENABLED": False})
    invites, path = roles.permits(world.role, Permission.INVITE), f"org/{world.acme}/invitations"

    def permitted(given=""):
        managed = roles.manages(world.role, *[given] if given else [])
        return world.refused or (OK if invites and managed else TOO_LOW)

    assert error(world.actor.get(path)) == permitted()
    for given in ROLES:
        email = f"{given}@example.com"
        answer = world.actor.post(f"org/{world.acme}/invite", email=email, role=given)
        assert error(answer, 201) == permitted(given), given

        other = f"{path}/{invited(world, given).pk}"
        assert error(world.actor.post(f"{other}/resend")) == permitted(given), given
        assert error(world.actor.delete(other)) == permitted(given), given


def invited(world, role):
    """A pending invitation with this role, of the founder."""
    organization = Organization.objects.get(pk=world.acme)
    return OrganizationInvitation.objects.create(
        organization=organization,
        email=f"other-{role}@example.com",
        email_key=email_key(f"other-{role}@example.com"),
        role=role,
        inviter=organization.founder,
        expires_at=timezone.now() + timedelta(days=1),
    )


@each_actor
def test_every_member_but_the_last_owner_may_leave(world):
    count = Membership.objects.filter(organization=world.acme).count()

    answer = world.actor.delete(f"org/{world.acme}/members/{world.actor.id}")

    last = world.role == OWNER and count == 1
    assert error(answer) == (world.refused or (LAST if last else OK))


@each_actor
def test_changes_of_the_own_role_agree_with_the_table(world):
    own = Membership.objects.filter(organization=world.acme, user=world.actor.user)
    last = world.role == OWNER and Membership.objects.count() == 1

    for given in ROLES:
        own.update(role=world.role)
        answer = world.actor.put(f"org/{world.acme}/members/{world.actor.id}", role=given)

        if not roles.manages(world.role, given, world.role):
            expected = TOO_LOW
        else:
            expected = LAST if last and given != OWNER else OK
        assert error(answer) == (world.refused or expected), given


def error(answer, done=200):
    """Status and code of a refusal; `OK` for the status of the action that is done."""
    return OK if answer.status == done else (answer.status, answer.code)


def test_table_grants_what_the_contract_says():
    assert list(ROLES) == ["owner", "admin", "member"]
    assert {
        role: [str(name.name) for name in Permission if roles.permits(role, name)] for role in ROLES
    } == {
        "owner": ["READ", "SWITCH", "UPDATE", "DELETE", "INVITE", "CHANGE_ROLES", "REMOVE"],
        "admin": ["READ", "SWITCH", "UPDATE", "INVITE", "CHANGE_ROLES", "REMOVE"],
        "member": ["READ", "SWITCH"],
    }
    assert {role: set(ROLES[role].manages) for role in ROLES} == {
        "owner": {"owner", "admin", "member"},
        "admin": {"admin", "member"},
        "member": set(),
    }


def test_custom_role_needs_no_change_of_a_route(api, acme, ann, bob, eve, monkeypatch):
    auditor = roles.Role(
        "billing", frozenset({Permission.READ, Permission.UPDATE}), frozenset({"member"})
    )
    monkeypatch.setattr(roles, "ROLES", {**ROLES, "billing": auditor})
    join(acme, bob, "billing")
    join(acme, eve)

    assert bob.put(f"org/{acme}", name="New").status == 200
    assert error(bob.delete(f"org/{acme}/members/{eve.id}")) == TOO_LOW
    assert error(bob.delete(f"org/{acme}")) == TOO_LOW


def test_unknown_role_in_the_database_permits_nothing(acme, member):
    Membership.objects.filter(user=member.user).update(role="gone")

    assert error(member.get(f"org/{acme}")) == TOO_LOW
    assert member.delete(f"org/{acme}/members/{member.id}").status == 200
