"""The one table of roles: what the members of an organization may do.

Every rule asks this table, the docs page is written from it, and a generated test compares the
routes with it cell by cell. `ORGANIZATION.ROLES` adds roles of the project, so no rule and no route
names a role, except for `owner`: an organization keeps its last owner.

Ranks order the roles. Owners and admins have the rights and the permissions of every role below
them. A role of the project has those of its entry, and those of `member` if it ranks above it; it
ranks below `admin`, so it never counts as an admin or an owner. A role that may give roles
gives its own and those that rank below it, but none with a right or permission that it lacks. An
invalid entry of the setting is ignored, and the system check names it: members with this role have
no rights then.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from authservice.kernel.settings import cached, early
from authservice.organization.conf import conf

OWNER, ADMIN, MEMBER = "owner", "admin", "member"
DEFAULT = MEMBER  # the role in an invitation that names none


class Permission(StrEnum):
    """A right in the organization; the value is the text in the docs. A role of the project names
    such rights in lower case in its key `may`. The permissions in its key `permissions` are others:
    only views of the project ask for them."""

    READ = "read the organization and its members"
    SWITCH = "make it the active organization"
    UPDATE = "change name, logo and metadata"
    DELETE = "delete the organization"
    INVITE = "invite, and read, resend and cancel invitations"
    CHANGE_ROLES = "change the roles of members"
    REMOVE = "remove members"


@dataclass(frozen=True)
class Role:
    """`permits` are the rights in the organization (key `may`). `manages` are the roles that it may
    give to members and invitations, and whose members it may change and remove. `grants` are the
    permissions for the views of the project (key `permissions`)."""

    name: str
    rank: int
    permits: frozenset[Permission]
    manages: frozenset[str]
    grants: frozenset[str]


@dataclass(frozen=True)
class _Entry:
    """A role before it gets the rights and permissions of roles that rank below it."""

    name: str
    rank: int
    permits: frozenset[Permission]
    grants: frozenset[str] = frozenset()


_READING = frozenset({Permission.READ, Permission.SWITCH})
_MANAGING = frozenset({Permission.INVITE, Permission.CHANGE_ROLES, Permission.REMOVE})
_FIXED = (
    _Entry(OWNER, 300, frozenset({Permission.DELETE})),
    _Entry(ADMIN, 200, _MANAGING | {Permission.UPDATE}),
    _Entry(MEMBER, 100, _READING),
)
_FIXED_NAMES = frozenset(entry.name for entry in _FIXED)
_OWN_RANK = 150  # of a role of the project whose entry has no rank
_RANKS = range(1, 200)
# The values that `may` of a role of the project accepts. Only owners may delete.
_RIGHTS = {
    permission.name.lower(): permission
    for permission in (
        *sorted(_MANAGING, key=lambda permission: permission.name),
        Permission.UPDATE,
    )
}
_KEYS = ("rank", "may", "permissions")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_GRANT = re.compile(r"[a-z0-9_-]+([.:][a-z0-9_-]+)*")
_LONGEST = 100  # characters of a permission of the project


@cached
def table() -> Mapping[str, Role]:
    """The roles by name, from the most to the least powerful."""
    no_roles: Mapping[str, Any] = {}
    setting = early(lambda: conf.roles, no_roles)
    valid = {
        name: options for name, options in setting.items() if not list(_problems(name, options))
    }
    # An entry for a fixed role only adds permissions. `pop` leaves the roles of the project.
    entries = [
        replace(entry, grants=frozenset(valid.pop(entry.name, {}).get("permissions", ())))
        for entry in _FIXED
    ]
    for name, options in valid.items():
        rights = _READING.union(_RIGHTS[right] for right in options.get("may", ()))
        rank = options.get("rank", _OWN_RANK)
        own_grants = frozenset(options.get("permissions", ()))
        entries.append(_Entry(name, rank, rights, own_grants))
    entries.sort(key=lambda entry: -entry.rank)
    roles: dict[str, Role] = {}
    # From the lowest rank up: each role gets rights of roles below it.
    for entry in reversed(entries):
        below = [role for role in roles.values() if role.rank < entry.rank]
        inherited = [role for role in below if entry.name in _FIXED_NAMES or role.name == MEMBER]
        permits = entry.permits.union(*(role.permits for role in inherited))
        grants = entry.grants.union(*(role.grants for role in inherited))
        # No role with a right or permission that this role lacks.
        managed = [role.name for role in below if role.permits <= permits and role.grants <= grants]
        manages = frozenset([entry.name, *managed] if permits & _MANAGING else ())
        roles[entry.name] = Role(entry.name, entry.rank, permits, manages, grants)
    return {entry.name: roles[entry.name] for entry in entries}


def permits(role: str, permission: Permission) -> bool:
    """Whether a member with this role has the permission; an unknown role has none."""
    return role in table() and permission in table()[role].permits


def grants(role: str, permission: str) -> bool:
    """Whether a member with this role has a permission of the project, such as `reports.export`;
    an unknown role has none."""
    return role in table() and permission in table()[role].grants


def manages(role: str, *other_roles: str) -> bool:
    """Whether a member with this role may give each of the other roles, and change and remove
    members who have them. Owners and admins may also change and remove members whose role is no
    longer in the table."""
    if role not in table():
        return False
    existing = [other for other in other_roles if other in table()]
    return table()[role].manages.issuperset(existing if role in (OWNER, ADMIN) else other_roles)


def managed_by(role: str) -> Iterator[str]:
    """The roles that a member with this role manages, in the order of the table."""
    return (name for name in table() if manages(role, name))


def reaches(role: str, least: str) -> bool:
    """Whether a role is `least` or ranks above it. Raises `ValueError` if `least` is not in the
    table."""
    require(least)
    return role in table() and (role == least or table()[role].rank > table()[least].rank)


def require(role: str) -> None:
    """Raises `ValueError` for a role that is not in the table."""
    if role not in table():
        names = ", ".join(table())
        raise ValueError(f"{role!r} is not one of the roles {names}.{_close(role, table())}")


def require_granted(permission: str) -> None:
    """Raises `ValueError` for a permission that `ORGANIZATION.ROLES` gives to no role."""
    permissions = sorted({name for role in table().values() for name in role.grants})
    if permission not in permissions:
        text = f"ORGANIZATION.ROLES gives the permission {permission!r} to no role."
        raise ValueError(text + _close(permission, permissions))


def rows() -> Iterator[tuple[str, list[bool]]]:
    """The table for the docs: each permission or managed role, and whether each role has it."""
    for permission in Permission:
        yield str(permission), [permits(name, permission) for name in table()]
    for managed in table():
        text = f"give the role {managed}, and change and remove members who have it"
        yield text, [manages(name, managed) for name in table()]


def problems() -> Iterator[str]:
    """What is wrong with `ORGANIZATION.ROLES`, for the system check."""
    for name, entry in conf.roles.items():
        yield from _problems(name, entry)


def _problems(name: Any, definition: Any) -> Iterator[str]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield (
            f"{name!r} is not the name of a role: use at most 32 characters a-z, 0-9, _ and -, of"
            " which the first is one of a-z."
        )
        return
    if not isinstance(definition, Mapping):
        yield f"The role {name!r} must be a dict, not {type(definition).__name__}."
        return
    fixed = name in _FIXED_NAMES
    allowed = _KEYS[2:] if fixed else _KEYS
    for key in definition:
        if key not in allowed:
            kind = "fixed role" if fixed else "role"
            text = f"The {kind} {name!r} takes no key {key!r}, only {', '.join(allowed)}."
            yield text + _close(key, allowed)
    rank = definition.get("rank", _OWN_RANK)
    if isinstance(rank, bool) or not isinstance(rank, int) or rank not in _RANKS:
        yield (
            f"The rank of the role {name!r} must be a whole number from 1 to 199: member has 100,"
            " admin has 200."
        )
    yield from _text_problems(name, "may", definition.get("may", ()), _RIGHTS)
    for permission in _texts(definition.get("permissions", ())):
        if not _GRANT.fullmatch(permission) or len(permission) > _LONGEST:
            yield (
                f"{permission!r} of the role {name!r} is not a permission: use at most 100"
                ' characters a-z, 0-9, _ and - with dots between them, as in "reports.export".'
            )
    yield from _text_problems(name, "permissions", definition.get("permissions", ()), None)


def _text_problems(name: str, key: str, raw: Any, allowed: Collection[str] | None) -> Iterator[str]:
    texts = _texts(raw)
    if not isinstance(raw, list | tuple | set | frozenset) or len(texts) != len(raw):
        yield f"{key!r} of the role {name!r} must be a list of texts."
    for text in texts:
        if allowed is not None and text not in allowed:
            names = ", ".join(sorted(allowed))
            yield f"{key!r} of the role {name!r} has {text!r}, only {names} exist." + _close(
                text, allowed
            )


def _texts(raw: Any) -> list[str]:
    """The texts of a list; of anything else, none."""
    listed = raw if isinstance(raw, list | tuple | set | frozenset) else ()
    return [item for item in listed if isinstance(item, str)]


def _close(text: Any, names: Collection[str]) -> str:
    """A hint at the name that is most similar to the text, or "" if none is similar."""
    matches = difflib.get_close_matches(str(text).lower(), names, n=1)
    return f" Did you mean {matches[0]!r}?" if matches else ""
