"""Actor, target and action, each cell against the one table of roles.

The expected response is computed from `roles.table()` and the rules that hold for every role:
unknown before not a member, own membership may always be ended, the last owner stays.
"""

from dataclasses import dataclass
from datetime import timedelta
from itertools import product

import jwt
import pytest
from django.utils import timezone

from authservice.core.users.identifiers import email_key
from authservice.organization import roles
from authservice.organization.models import Membership, Organization, OrganizationInvitation
from authservice.organization.roles import OWNER, Permission
from tests.admin_api.people import promote
from tests.organization.inside.people import Person, join, role_of
from tests.support.flows import deactivate

pytestmark = pytest.mark.django_db

# Those of the settings of this host too.
ROLES = tuple(roles.table())

NOT_MEMBER = (403, "ORG_NOT_MEMBER")
TOO_LOW = (403, "ORG_INSUFFICIENT_ROLE")
NOT_PENDING = (400, "INVITATION_NOT_PENDING")
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
    changes = roles.permits(world.role, Permission.CHANGE_ROLES)

    for given in ROLES:
        own.update(role=world.role)
        answer = world.actor.put(f"org/{world.acme}/members/{world.actor.id}", role=given)

        if not changes or not roles.manages(world.role, given, world.role):
            expected = TOO_LOW
        else:
            expected = LAST if last and given != OWNER else OK
        assert error(answer) == (world.refused or expected), given


def error(answer, done=200):
    """Status and code of a refusal; `OK` for the status of the action that is done."""
    return OK if answer.status == done else (answer.status, answer.code)


def rights(*names):
    return {name: [one.name for one in Permission if roles.permits(name, one)] for name in names}


def test_fixed_roles_have_what_the_contract_says():
    assert rights("owner", "admin", "member") == {
        "owner": ["READ", "SWITCH", "UPDATE", "DELETE", "INVITE", "CHANGE_ROLES", "REMOVE"],
        "admin": ["READ", "SWITCH", "UPDATE", "INVITE", "CHANGE_ROLES", "REMOVE"],
        "member": ["READ", "SWITCH"],
    }


def test_roles_of_the_project_have_what_the_setting_says():
    assert ROLES == ("owner", "admin", "recruiter", "billing", "support", "member", "guest")
    assert rights("recruiter", "billing", "support", "guest") == {
        "recruiter": ["READ", "SWITCH", "INVITE"],
        "billing": ["READ", "SWITCH", "UPDATE"],
        "support": ["READ", "SWITCH"],
        "guest": ["READ", "SWITCH"],
    }


def test_roles_give_no_more_than_they_have():
    assert {name: set(role.manages) for name, role in roles.table().items()} == {
        "owner": set(ROLES),
        "admin": set(ROLES) - {"owner"},
        "recruiter": {"recruiter", "member", "guest"},
        "billing": set(),
        "support": set(),
        "member": set(),
        "guest": set(),
    }
    for name, role in roles.table().items():
        for other in role.manages:
            below = roles.table()[other]
            assert below.permits <= role.permits, (name, other)
            assert below.grants <= role.grants, (name, other)


def test_owners_and_admins_have_the_permissions_of_every_role_below_them():
    granted = {name: sorted(role.grants) for name, role in roles.table().items()}

    assert granted == {
        "owner": ["billing.pay", "orders.read", "reports.export", "shop.close"],
        "admin": ["billing.pay", "orders.read", "reports.export"],
        "recruiter": [],
        "billing": ["billing.pay", "reports.export"],
        "support": ["orders.read"],
        "member": [],
        "guest": [],
    }


@pytest.mark.parametrize("least", ROLES)
def test_role_reaches_itself_and_the_lower_ranks(least):
    reaching = {role for role in ROLES if roles.reaches(role, least)}

    assert (
        reaching
        == {
            "owner": {"owner"},
            "admin": {"owner", "admin"},
            "recruiter": {"owner", "admin", "recruiter"},
            "billing": {"owner", "admin", "recruiter", "billing"},
            "support": {"owner", "admin", "recruiter", "support"},
            "member": {"owner", "admin", "recruiter", "billing", "support", "member"},
            "guest": set(ROLES),
        }[least]
    )


def test_owners_and_admins_change_and_remove_a_role_that_the_setting_has_no_more(
    acme, ann, bob, eve
):
    join(acme, bob, "recruiter")
    join(acme, eve, "gone")

    assert error(bob.delete(f"org/{acme}/members/{eve.id}")) == TOO_LOW
    assert error(ann.put(f"org/{acme}/members/{eve.id}", role="member")) == OK


def test_permissions_of_members_are_those_of_the_roles_above_them(organization):
    own = {"billing": {}, "guest": {"rank": 50, "may": ["invite"]}}
    organization(ROLES={**own, "member": {"permissions": ["wiki.read"]}})

    granted = [name for name, role in roles.table().items() if "wiki.read" in role.grants]
    assert granted == ["owner", "admin", "billing", "member"]
    assert roles.table()["guest"].manages == {"guest"}


def test_role_that_is_not_in_the_table_cannot_be_given(acme, ann, bob):
    join(acme, bob)

    assert ann.put(f"org/{acme}/members/{bob.id}", role="gone").code == "VALIDATION_ERROR"
    assert ann.post(f"org/{acme}/invite", email="a@example.com", role="gone").status == 400


def test_invitation_gives_a_role_of_the_project(acme, ann, bob, post):
    sent = ann.post(f"org/{acme}/invite", email=bob.email, role="billing")
    assert sent.data["role"] == "billing"
    body = {"token": post.token("org-invitation")}

    accepted = bob.request("POST", "org/invitations/accept", body)

    assert accepted.data["member"]["role"] == role_of(acme, bob) == "billing"
    bob.switch(acme)
    assert jwt.decode(bob.token, options={"verify_signature": False})["org_role"] == "billing"


def test_unknown_role_in_the_database_permits_nothing(acme, member):
    Membership.objects.filter(user=member.user).update(role="gone")

    assert error(member.get(f"org/{acme}")) == TOO_LOW
    assert member.delete(f"org/{acme}/members/{member.id}").status == 200


def test_invitation_with_a_role_that_the_setting_has_no_more_is_closed(
    acme, ann, bob, post, organization
):
    invitation = ann.post(f"org/{acme}/invite", email=bob.email, role="billing").data["id"]
    body = {"token": post.token("org-invitation")}
    organization(ROLES={})

    refused = bob.request("POST", "org/invitations/accept", body)

    assert error(refused) == NOT_PENDING
    assert role_of(acme, bob) == ""
    assert error(ann.post(f"org/{acme}/invitations/{invitation}/resend")) == NOT_PENDING
    assert error(ann.delete(f"org/{acme}/invitations/{invitation}")) == OK
