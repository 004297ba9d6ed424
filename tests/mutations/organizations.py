"""Organizations: roles, owners, invitations and the active organization."""

from __future__ import annotations

from tests.mutations.kinds import Mutation, to, without

ORG = "authservice/organization/"
_SETTINGS = "--ds=tests.organization.settings"


def _in(name: str) -> tuple[str, ...]:
    return _SETTINGS, f"tests/organization/inside/test_{name}.py"


ORGANIZATIONS = (
    Mutation(
        "The membership that a route below an organization requires",
        ORG + "access.py",
        to(
            "    if role is None:\n        raise errors.NotAMember\n",
            "    role = role or 'owner'\n",
        ),
        _in("roles"),
    ),
    Mutation(
        "The role of a member whom an admin changes",
        ORG + "members.py",
        to("require_manages(member.role, role)", "require_manages(role)"),
        _in("roles"),
    ),
    Mutation(
        "The role that an admin gives to a member",
        ORG + "members.py",
        to("require_manages(member.role, role)", "require_manages(member.role)"),
        _in("roles"),
    ),
    Mutation(
        "The last owner of an organization",
        ORG + "members.py",
        to("if member.role == roles.OWNER and not other_owners(member).exists():", "if False:"),
        _in("roles"),
    ),
    Mutation(
        "The lock that keeps one of two owners",
        ORG + "access.py",
        to("Organization.objects.select_for_update().filter(", "Organization.objects.filter("),
        (_SETTINGS, "tests/organization/inside/races/test_owners.py"),
        database="postgres",
    ),
    Mutation(
        "The owner after the deletion of a user",
        ORG + "deletion.py",
        to("not members.other_owners(member).exists()", "False"),
        _in("deletion"),
    ),
    Mutation(
        "The end of a membership with each of several deleted users",
        ORG + "deletion.py",
        without("    members.discard(member)\n"),
        _in("deletion"),
    ),
    Mutation(
        "The right to create an organization",
        ORG + "organizations.py",
        without(
            "        if not chosen.allows(conf.who_may_create, person):\n"
            "            raise errors.Forbidden\n"
        ),
        _in("organizations"),
    ),
    Mutation(
        "The omission of inactive organizations from those of a user",
        ORG + "active.py",
        to("filter(user=user, organization__active=True)", "filter(user=user)"),
        _in("active"),
    ),
    Mutation(
        "The user whose organizations a login lists",
        ORG + "active.py",
        to("filter(user=user, organization__active=True)", "filter(organization__active=True)"),
        _in("active"),
    ),
    Mutation(
        "The active organization in the response of a kept session",
        ORG + "views/shapes.py",
        to("str(kept.organization_id) if kept", '"" if kept'),
        _in("answering"),
    ),
    Mutation(
        "The role of an invitation that an admin sends",
        ORG + "invitations.py",
        without("        actor.require_manages(role)\n"),
        _in("roles"),
    ),
    Mutation(
        "The right of the inviter when an invitation is accepted",
        ORG + "answering.py",
        to("if not may_still_invite(invitation):", "if False:"),
        _in("answering"),
    ),
    Mutation(
        "The maximum of members",
        ORG + "members.py",
        without("    require_room(organization)\n"),
        _in("answering"),
    ),
    Mutation(
        "The organization of an invitation in a path",
        ORG + "invitations.py",
        to("rows.filter(organization=actor.organization, pk=key)", "rows.filter(pk=key)"),
        _in("tenants"),
    ),
    Mutation(
        "The organization that a former member loses in the session",
        ORG + "members.py",
        without("    active.forget_of(member)\n"),
        _in("active"),
    ),
    Mutation(
        "The membership behind the organization of a view",
        ORG + "requests.py",
        to(
            "active.memberships_of(caller.person).filter(organization=key).first()",
            "active.Membership.objects.filter(organization=key).first()",
        ),
        _in("host_views"),
    ),
)
