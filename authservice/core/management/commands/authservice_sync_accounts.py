"""`manage.py authservice_sync_accounts`: creates and updates the accounts of existing users, and
marks as proven the addresses that the project has verified."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from django.contrib.auth.hashers import get_hasher
from django.core.management.base import CommandError

from authservice.core.conf import core
from authservice.core.management.command_line import (
    InterruptibleCommand,
    counted,
    moment,
    show_progress,
    was,
)
from authservice.core.recovery import earlier_proofs
from authservice.core.recovery.earlier_proofs import NONE, CannotChoose
from authservice.core.users.identifiers import EMAIL, USERNAME
from authservice.core.users.sync import MOST_NAMED, Report, planned, sync
from authservice.core.users.user_model import host
from authservice.kernel.checks import listed


class Command(InterruptibleCommand):
    help = (
        "Create an account for every user who has none, update copies and keys, and report "
        "identifiers that several users share and the slowest password hasher in use."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="report, but write nothing")
        parser.add_argument("--batch-size", type=int, default=1000, help="users per batch (1000)")
        parser.add_argument(
            "--verified",
            default=NONE,
            metavar="all|none|DOTTED.PATH",
            help="which addresses the project has verified: those of all users who joined before"
            " the service was installed, none (the default), or those that a function names",
        )
        parser.add_argument(
            "--joined-before",
            metavar="DATE",
            help="with --verified all: users who joined before this time instead",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["batch_size"] < 1:
            raise CommandError("--batch-size must be at least 1.")
        size, dry_run = options["batch_size"], options["dry_run"]
        progress = partial(show_progress, self.stderr)
        before = options["joined_before"]
        try:
            joined = None if before is None else moment("--joined-before", before)
            proofs = earlier_proofs.choose(options["verified"], joined)
            report = sync(batch_size=size, dry_run=dry_run, progress=progress)
            self._print(report, dry_run=dry_run)
            plan = partial(planned, report) if dry_run else None
            marked = earlier_proofs.mark_chosen(
                proofs, batch_size=size, plan=plan, progress=progress
            )
        except CannotChoose as error:
            raise CommandError(str(error)) from error
        verb = "would be" if dry_run else was(marked.number)
        has_chosen = options["verified"] != NONE
        if has_chosen:
            self.stdout.write(f"{_addresses(marked.number)} {verb} marked as proven.")
        if marked.later:
            self.stdout.write(_LATER.format(users=counted(marked.later, "user")))
        number = earlier_proofs.count_unproven(marked, plan, size) if core.wipe_unproven else 0
        if number:
            text = _UNPROVEN.format(
                addresses=_addresses(number), are="is" if number == 1 else "are"
            )
            self.stdout.write(self.style.WARNING(text + (_REST if has_chosen else _NAME_THEM)))
        if report.refused or marked.refused:
            # `with_refused` lists only the first of all `refused` users.
            users = [*dict.fromkeys([*report.with_refused, *marked.refused])]
            number = report.refused + len(users) - len(report.with_refused)
            named = _named(users[:MOST_NAMED], number)
            raise CommandError(_REFUSED.format(users=named))

    def _print(self, report: Report, *, dry_run: bool) -> None:
        were_created, were_updated = (
            "would be" if dry_run else was(number) for number in (report.created, report.updated)
        )
        self.stdout.write(
            f"{counted(report.users, 'user')}: {counted(report.created, 'account')}"
            f" {were_created} created, {report.updated} {were_updated} updated."
        )
        for contested in report.contested.values():
            users = [f"{pk} ({name!r})" if name else pk for pk, name in contested.named]
            named = _named(users, contested.users)
            claim = f"Contested {contested.kind} {contested.text!r}: users {named}"
            self.stdout.write(self.style.WARNING(claim))
        if report.contested:
            for text in _shared(report):
                self.stdout.write(text)
        for text, users, number in (
            (_ODD_EMAILS, report.with_odd_email, report.odd_emails),
            (_ODD_NAMES, report.with_odd_name, report.odd_names),
            (_UNREADABLE, report.with_unreadable, report.unreadable),
        ):
            if number:
                warning = text.format(users=_named(users, number))
                self.stdout.write(self.style.WARNING(warning))
        self._print_hashers(report)

    def _print_hashers(self, report: Report) -> None:
        slowest = report.slowest
        if slowest is None:
            return
        for hasher in sorted(report.hashers.values(), key=lambda entry: -entry.seconds):
            self.stdout.write(
                f"{hasher.name}: {counted(hasher.users, 'password')}, "
                f"{hasher.seconds * 1000:.1f} ms per check"
            )
        algorithm = slowest.name.split()[0]
        if algorithm == get_hasher(core.dummy_hasher).algorithm:
            return
        self.stdout.write(
            f"Slowest hasher: {slowest.name}. If old hashes are slower than new ones, set "
            f"AUTHSERVICE['CORE']['DUMMY_HASHER'] = '{algorithm}', so that a login "
            "of an unknown user takes as long as one of a known user."
        )


_LATER = (
    "{users} joined after the service was installed, so their addresses were not marked. If"
    " the project has verified those too, give the time until which it did with --joined-before."
)
_UNPROVEN = (
    "{addresses} {are} unproven: the first magic link of an owner, or the first login with a"
    " provider, will remove the password."
)
_SHARED_TOO = (
    " If an address is unproven because several users share it, change the address of all but one,"
    " then run this again."
)
_NAME_THEM = f" Name the addresses that your project has verified with --verified.{_SHARED_TOO}"
_REST = (
    " That is right for addresses that your project has not verified. authservice.W260 and"
    f" authservice.W261 warn of them until their owners prove them.{_SHARED_TOO}"
)
_SHARED_EMAIL = (
    "No user can log in with an e-mail address that several users share, unless one of them has"
    " verified it. Users with a shared e-mail address log in with their username."
)
_SHARED_USERNAME = (
    "No user can log in with a username that several users share. They log in with their e-mail"
    " address."
)
# The user is also found by the exact text of the USERNAME_FIELD, see `lookup`.
_EXACT_EMAIL = (
    "Users who share an address log in with its exact spelling, and any other spelling is refused."
    " Once one of them has verified the address, the next run of this command assigns it to that"
    " user in every spelling."
)
_EXACT_USERNAME = (
    "Users who share a username log in with its exact spelling, and any other spelling is refused."
)
_LOCKED_OUT = (
    " The others can then neither log in nor reset their password until you change their address."
)
_BY_USERNAME = " The others then log in with their username."


def _shared(report: Report) -> Iterator[str]:
    """What contested identifiers mean for logins, for each kind that occurs."""
    kinds = {contested.kind for contested in report.contested.values()}
    if EMAIL.text in kinds and host().email == host().natural:
        yield _EXACT_EMAIL + (_BY_USERNAME if host().username else _LOCKED_OUT)
    elif EMAIL.text in kinds:
        yield _SHARED_EMAIL
    if USERNAME.text in kinds:
        yield _EXACT_USERNAME if host().username == host().natural else _SHARED_USERNAME


_ODD_EMAILS = (
    "Addresses that a new account must not have (with quotes, at an IP address, at localhost or"
    " otherwise not valid): users {users}. These users keep them and can log in."
)
_ODD_NAMES = (
    "Usernames that no login can name (with a space at an end, a tab, another control character"
    " or not in Unicode normal form C): users {users}. Change them, or these users log in with"
    " their address."
)
_UNREADABLE = (
    "Passwords that no hasher of PASSWORD_HASHERS can check: users {users}. Add the hasher of"
    " the project that stored them, or these users need a password reset."
)
_REFUSED = (
    "The database refuses the accounts of users {users}. All others were written. The log has"
    " the reasons. Correct the rows, and run the command again."
)


def _addresses(number: int) -> str:
    return counted(number, "address", "addresses")


def _named(users: Sequence[Any], total: int) -> str:
    return listed(users, most=MOST_NAMED, total=total)
