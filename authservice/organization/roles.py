"""The one table of roles: what the members of an organization may do.

Every rule asks this table, the docs page is written from it, and a generated test compares the
routes with it cell by cell. A new role is a new entry: no rule and no route names a role, except
for the owner, whose last one an organization keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

OWNER, ADMIN, MEMBER = "owner", "admin", "member"
DEFAULT = MEMBER  # the role in an invitation that names none


class Permission(StrEnum):
    """What a role may permit; the value is the text in the docs."""

    READ = "read the organization and its members"
    SWITCH = "make it the active organization"
    UPDATE = "change name, logo and metadata"
    DELETE = "delete the organization"
    INVITE = "invite, and read, resend and cancel invitations"
    CHANGE_ROLES = "change the roles of members"
    REMOVE = "remove members"


@dataclass(frozen=True)
class Role:
    """`permits` applies to the organization. `manages` are the roles that it may give to members
    and invitations, and whose members it may change and remove."""

    name: str
    permits: frozenset[Permission]
    manages: frozenset[str]


_READING = frozenset({Permission.READ, Permission.SWITCH})
_MANAGING = _READING | {
    Permission.UPDATE,
    Permission.INVITE,
    Permission.CHANGE_ROLES,
    Permission.REMOVE,
}

# From the most to the least powerful.
ROLES: Mapping[str, Role] = {
    role.name: role
    for role in (
        Role(OWNER, _MANAGING | {Permission.DELETE}, frozenset({OWNER, ADMIN, MEMBER})),
        Role(ADMIN, _MANAGING, frozenset({ADMIN, MEMBER})),
        Role(MEMBER, _READING, frozenset()),
    )
}


def permits(role: str, permission: Permission) -> bool:
    """Whether a member with this role has the permission; an unknown role has none."""
    return role in ROLES and permission in ROLES[role].permits


def manages(role: str, *others: str) -> bool:
    """Whether a member with this role may give each of the other roles, and change and remove
    members who have them."""
    return role in ROLES and ROLES[role].manages.issuperset(others)


def reaches(role: str, least: str) -> bool:
    """Whether a role is as powerful as `least`: equal to it, or above it in the table. Raises
    `ValueError` if `least` is not in the table."""
    order = list(ROLES)
    return role in ROLES and order.index(role) <= order.index(least)


def rows() -> Iterator[tuple[str, list[bool]]]:
    """The table for the docs: each permission or managed role, and whether each role has it."""
    for permission in Permission:
        yield str(permission), [permits(name, permission) for name in ROLES]
    for managed in ROLES:
        text = f"give the role {managed}, and change and remove members who have it"
        yield text, [manages(name, managed) for name in ROLES]
