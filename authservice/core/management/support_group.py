"""The group of Django for support staff: exactly the permissions of the support page.

Its members see the page and press its buttons. They have no permission to change users, accounts or
groups: staff who change an address can take over the account, and staff who change rights can take
over all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import Group, Permission
from django.db import transaction

from authservice.kernel import databases
from authservice.kernel.modules import plugs
from authservice.kernel.support_parts import Support

NAME = "Support"
LONGEST = 150  # characters of a name, as Django stores it
_OF_CORE = (
    "authservice_core.view_account",
    "authservice_core.view_session",
    "authservice_core.support_account",
    "authservice_core.verify_account",
    "authservice_core.suspend_account",
)


@dataclass(frozen=True)
class Outcome:
    """What was changed, or would be: names of permissions, "app_label.codename"."""

    created: bool
    added: list[str]
    removed: list[str]


class MissingPermissions(Exception):
    """The database has no such permissions yet: `migrate` creates them."""


class OtherPermissions(Exception):
    """A group of this name has further permissions: it may be one of the project, with other
    members. The text lists them."""


def permissions() -> list[str]:
    """The permissions that the group has, of core and of the installed modules."""
    names = {*_OF_CORE}
    for part in plugs(Support):
        names |= {
            part.view,
            *part.extra_permissions,
            *(button.permission for button in part.buttons),
        }
    return sorted(names)


def update(name: str, *, replace: bool, dry_run: bool) -> Outcome:
    """Create the group, or give it exactly these permissions.

    Raises `MissingPermissions`, and `OtherPermissions` unless `replace` says that the group loses
    all others.
    """
    using, required = databases.primary(), permissions()
    with transaction.atomic(using=using):
        apps = {permission.partition(".")[0] for permission in required}
        rows = Permission.objects.using(using).select_related("content_type")
        stored = {_name(row): row for row in rows.filter(content_type__app_label__in=apps)}
        if missing := [permission for permission in required if permission not in stored]:
            raise MissingPermissions(", ".join(missing))
        group = Group.objects.using(using).filter(name=name).first()
        current: set[str] = set()
        if group:
            current = {_name(row) for row in group.permissions.select_related("content_type")}
        outcome = Outcome(
            group is None, sorted({*required} - current), sorted(current - {*required})
        )
        if outcome.removed and not replace:
            raise OtherPermissions(", ".join(outcome.removed))
        if not dry_run:
            group = group or Group.objects.using(using).create(name=name)
            group.permissions.set([stored[permission] for permission in required])
    return outcome


def _name(permission: Permission) -> str:
    return f"{permission.content_type.app_label}.{permission.codename}"
