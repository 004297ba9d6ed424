"""`manage.py authservice_support_group`: create or update the group for support staff."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from authservice.core.management import support_group
from authservice.core.management.command_line import InterruptibleCommand
from authservice.core.management.support_group import MissingPermissions, OtherPermissions


class Command(InterruptibleCommand):
    help = "Create a group with the permissions of the support page, or give it exactly these."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", default=support_group.NAME, help="name of the group")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="remove all other permissions of a group that exists",
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would change")

    def handle(self, *args: Any, **options: Any) -> None:
        name, dry_run = options["name"], options["dry_run"]
        if not name or len(name) > support_group.LONGEST:
            raise CommandError(f"--name must have 1 to {support_group.LONGEST} characters.")
        try:
            outcome = support_group.update(name, replace=options["replace"], dry_run=dry_run)
        except MissingPermissions as error:
            raise CommandError(f"Run migrate first: there is no permission {error}.") from error
        except OtherPermissions as error:
            raise CommandError(
                f"The group {name} has other permissions: {error}. Nothing is changed. Choose"
                " another --name, or remove them with --replace."
            ) from error
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
