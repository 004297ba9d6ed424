"""The group of Django for support staff: exactly the permissions of the support page.

Its members see the page and press its buttons. They have no permission to change users, accounts or
groups: staff who change an address can take the account, and staff who change rights can take all.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    return sorted({*_OF_CORE, *_of_modules()})


def _of_modules() -> Iterator[str]:
    for part in plugs(Support):
        yield part.view
        yield from part.further
        yield from (button.permission for button in part.buttons)


def update(name: str, *, replace: bool, dry_run: bool) -> Outcome:
    """Create the group, or give it exactly these permissions.

    Raises `MissingPermissions`, and `OtherPermissions` unless `replace` says that the group loses
    all others.
    """
    using, wanted = databases.primary(), permissions()
    with transaction.atomic(using=using):
        found = _stored(wanted)
        group = Group.objects.using(using).filter(name=name).first()
        held = _held(group) if group else set()
        outcome = Outcome(group is None, sorted({*wanted} - held), sorted(held - {*wanted}))
        if outcome.removed and not replace:
            raise OtherPermissions(", ".join(outcome.removed))
        if not dry_run:
            group = group or Group.objects.using(using).create(name=name)
            group.permissions.set(found)
    return outcome


def _stored(wanted: list[str]) -> list[Permission]:
    apps = {name.partition(".")[0] for name in wanted}
    rows = Permission.objects.using(databases.primary()).select_related("content_type")
    found = {_name(row): row for row in rows.filter(content_type__app_label__in=apps)}
    missing = [name for name in wanted if name not in found]
    if missing:
        raise MissingPermissions(", ".join(missing))
    return [found[name] for name in wanted]


def _held(group: Group) -> set[str]:
    return {_name(row) for row in group.permissions.select_related("content_type")}


def _name(permission: Permission) -> str:
    return f"{permission.content_type.app_label}.{permission.codename}"
