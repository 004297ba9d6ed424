"""`manage.py authservice_disable_2fa`: for a user who lost the app and the backup codes."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from authservice.core.management.command_line import InterruptibleCommand, named
from authservice.twofactor import enrolment


class Command(InterruptibleCommand):
    help = "Disable the second factor of one user and end all their sessions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="id, e-mail address or username")

    def handle(self, *args: Any, **options: Any) -> None:
        person = named(options["user"])
        name = person.email or person.username
        if not enrolment.remove(person):
            raise CommandError(f"User {person.id} ({name}) has no second factor.")
        self.stdout.write(
            f"Disabled the second factor of user {person.id} ({name}) and ended all sessions."
        )
