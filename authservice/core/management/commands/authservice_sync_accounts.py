"""`manage.py authservice_sync_accounts`: creates and updates the accounts of existing users."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from authservice.core.management.progress import show_progress
from authservice.core.users.sync import MOST_NAMED, Contested, Report, sync


class Command(BaseCommand):
    help = (
        "Create an account for every user who has none, update copies and keys, and report "
        "identifiers that several users share and the slowest password hasher in use."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="report, but write nothing")
        parser.add_argument("--batch-size", type=int, default=1000, help="users per batch (1000)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["batch_size"] < 1:
            raise CommandError("--batch-size must be at least 1.")
        report = sync(
            batch_size=options["batch_size"],
            dry_run=options["dry_run"],
            progress=partial(show_progress, self.stderr),
        )
        self._print(report, dry_run=options["dry_run"])

    def _print(self, report: Report, *, dry_run: bool) -> None:
        verb = "would be" if dry_run else "were"
        self.stdout.write(
            f"{report.users} users: {report.created} accounts {verb} created, "
            f"{report.updated} {verb} updated."
        )
        for contested in report.contested.values():
            self.stdout.write(self.style.WARNING(_claim(contested)))
        if report.contested:
            self.stdout.write(
                "No user can log in with an identifier that several users share, unless one of "
                "them has verified it. Users with a shared e-mail address log in with their "
                "username."
            )
        if report.odd_emails:
            self.stdout.write(self.style.WARNING(_odd(report)))
        self._print_hashers(report)

    def _print_hashers(self, report: Report) -> None:
        slowest = report.slowest
        if slowest is None:
            return
        for hasher in sorted(report.hashers.values(), key=lambda entry: -entry.seconds):
            self.stdout.write(
                f"{hasher.name}: {hasher.users} passwords, {hasher.seconds * 1000:.1f} ms per check"
            )
        self.stdout.write(
            f"Slowest hasher: {slowest.name}. If old hashes are slower than new ones, set "
            f"AUTHSERVICE['CORE']['DUMMY_HASHER'] = '{slowest.name.split()[0]}', so that a login "
            "of an unknown user takes as long as one of a known user."
        )


def _claim(contested: Contested) -> str:
    named = _named(contested.users, len(contested.users))
    return f"Contested {contested.kind} {contested.text!r}: users {named}"


def _odd(report: Report) -> str:
    named = _named(report.with_odd_email, report.odd_emails)
    return (
        "Addresses that a new account must not have (with quotes, at an IP address, at localhost or"
        f" otherwise not valid): users {named}. These users keep them and can log in."
    )


def _named(users: Sequence[Any], total: int) -> str:
    more = total - MOST_NAMED
    return ", ".join(map(str, users[:MOST_NAMED])) + (f" and {more} more" if more > 0 else "")
