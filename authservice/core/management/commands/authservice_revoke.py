"""`manage.py authservice_revoke`: end the sessions of one user or of all users."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import partial
from typing import Any

from django.core.management.base import CommandError

from authservice.core.management.command_line import (
    InterruptibleCommand,
    counted,
    moment,
    named,
    progress,
)
from authservice.core.sessions import revocation


class Command(InterruptibleCommand):
    help = "End the sessions of one user or of all users. Their tokens are invalid from then on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        users = parser.add_mutually_exclusive_group(required=True)
        users.add_argument("--user", help="id, e-mail address or username of one user")
        users.add_argument("--all", action="store_true", help="all users")
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
        if options["user"] is not None:  # an empty text must not mean all users
            person = named(options["user"])
            number = revocation.revoke_users([person.user], before=before)
            name = person.email or person.username
            self.stdout.write(f"Ended {counted(number, 'session')} of user {person.id} ({name}).")
            return
        if options["interactive"]:
            sessions = counted(revocation.open_sessions(before).count(), "session")
            try:
                answer = input(f"End {sessions} of all users? Type 'yes' to continue: ")
            except EOFError:
                answer = ""
            if answer != "yes":
                raise CommandError("Cancelled. No session was ended.")
        with progress(self.stderr, partial(revocation.users_with_sessions, before)) as show:
            ended = revocation.revoke_everyone(
                before=before, batch_size=options["batch_size"], progress=show
            )
        self.stdout.write(
            f"Ended {counted(ended.sessions, 'session')} of {counted(ended.users, 'user')}."
        )
