"""`manage.py authservice_revoke`: end the sessions of one user or of all users."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import datetime
from functools import partial
from typing import Any

from django.core.management.base import CommandError

from authservice.core.management.naming import moment, named
from authservice.core.management.progress import InterruptibleCommand, counted, progress
from authservice.core.sessions import revocation
from authservice.core.users.person import Person


class Command(InterruptibleCommand):
    help = "End the sessions of one user or of all users. Their tokens are invalid from then on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument("--user", help="id, e-mail address or username of one user")
        whose.add_argument("--all", action="store_true", help="all users")
        parser.add_argument(
            "--before", metavar="DATE", help="only sessions begun before DATE: 2030-01-31[T12:00]"
        )
        parser.add_argument(
            "--noinput",
            "--no-input",
            action="store_false",
            dest="interactive",
            help="do not ask for confirmation",
        )
        parser.add_argument("--batch-size", type=int, default=500, help="users per batch (500)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["batch_size"] < 1:
            raise CommandError("--batch-size must be at least 1.")
        before = moment("--before", options["before"]) if options["before"] is not None else None
        if options["user"] is not None:  # an empty one must not mean all users
            self._end_one(named(options["user"]), before)
            return
        if options["interactive"]:
            self._confirm(before)
        with progress(self.stderr, partial(revocation.users_with_sessions, before)) as shown:
            ended = revocation.revoke_everyone(
                before=before, batch_size=options["batch_size"], progress=shown
            )
        self.stdout.write(
            f"Ended {counted(ended.sessions, 'session')} of {counted(ended.users, 'user')}."
        )

    def _end_one(self, person: Person, before: datetime | None) -> None:
        ended = revocation.revoke_users([person.user], before=before)
        name = person.email or person.username
        self.stdout.write(f"Ended {counted(ended, 'session')} of user {person.id} ({name}).")

    def _confirm(self, before: datetime | None) -> None:
        number = counted(revocation.open_sessions(before).count(), "session")
        try:
            answer = input(f"End {number} of all users? Type 'yes' to continue: ")
        except EOFError:
            answer = ""
        if answer != "yes":
            raise CommandError("Cancelled. No session was ended.")
