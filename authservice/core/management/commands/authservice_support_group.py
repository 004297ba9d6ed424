"""`manage.py authservice_support_group`: create or update the group of Django for support staff.

It has exactly the permissions of the support page.
Its members see the page and press its buttons. They have no permission to change users, accounts or
groups: staff who change an address can take over the account, and staff who change rights can take
over all of them.
"""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Group, Permission
from django.core.management.base import CommandError
from django.db import transaction

from authservice.core.management.command_line import InterruptibleCommand
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

    Raises `CommandError` if a permission does not exist yet. Also, unless `replace` says that the
    group loses all others, if the group has others: it may be one of the project, with other
    members.
    """
    using, required = databases.primary(), permissions()
    with transaction.atomic(using=using):
        apps = {permission.partition(".")[0] for permission in required}
        rows = Permission.objects.using(using).select_related("content_type")
        stored = {_name(row): row for row in rows.filter(content_type__app_label__in=apps)}
        if missing := [permission for permission in required if permission not in stored]:
            raise CommandError(f"Run migrate first: there is no permission {', '.join(missing)}.")
        group = Group.objects.using(using).filter(name=name).first()
        current: set[str] = set()
        if group:
            current = {_name(row) for row in group.permissions.select_related("content_type")}
        outcome = Outcome(
            group is None, sorted({*required} - current), sorted(current - {*required})
        )
        if outcome.removed and not replace:
            others = ", ".join(outcome.removed)
            raise CommandError(
                f"The group {name} has other permissions: {others}. Nothing is changed. Choose"
                " another --name, or remove them with --replace."
            )
        if not dry_run:
            group = group or Group.objects.using(using).create(name=name)
            group.permissions.set([stored[permission] for permission in required])
    return outcome


def _name(permission: Permission) -> str:
    return f"{permission.content_type.app_label}.{permission.codename}"


class Command(InterruptibleCommand):
    help = "Create a group with the permissions of the support page, or give it exactly these."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", default=NAME, help="name of the group")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="remove all other permissions of a group that exists",
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would change")

    def handle(self, *args: Any, **options: Any) -> None:
        name, dry_run = options["name"], options["dry_run"]
        if not name or len(name) > LONGEST:
            raise CommandError(f"--name must have 1 to {LONGEST} characters.")
        outcome = update(name, replace=options["replace"], dry_run=dry_run)
        if dry_run:
            self.stdout.write("Nothing is changed (--dry-run).")
        state = "new" if outcome.created else "exists"
        self.stdout.write(f"Group {name}: {state}.")
        for permission in outcome.added:
            self.stdout.write(f"  + {permission}")
        for permission in outcome.removed:
            self.stdout.write(f"  - {permission}")
        if not (outcome.added or outcome.removed):
            self.stdout.write("  It has exactly the permissions of support staff.")
