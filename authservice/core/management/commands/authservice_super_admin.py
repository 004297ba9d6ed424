"""`manage.py authservice_super_admin`: make a user a super admin of the API, or withdraw that."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from authservice.core.management.command_line import InterruptibleCommand, named
from authservice.core.staff import update_user
from authservice.kernel import errors


class Command(InterruptibleCommand):
    help = (
        "Make a user a super admin of the API. Superusers of Django are super admins without it; a"
        " user model that has no is_superuser needs it for the first one."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="id, e-mail address or username")
        parser.add_argument("--remove", action="store_true", help="the user is no longer one")

    def handle(self, *args: Any, **options: Any) -> None:
        person, flag = named(options["user"]), not options["remove"]
        name = f"User {person.id} ({person.email or person.username})"
        try:
            changed = update_user.set_super_admin(person.user.pk, flag)
        except errors.Fault as fault:
            raise CommandError(f"{name} stays a super admin: {fault}") from fault
        if_changed = "is now" if flag else "is no longer"
        if_unchanged = "is already" if flag else "was not"
        self.stdout.write(f"{name} {if_changed if changed else if_unchanged} a super admin.")
