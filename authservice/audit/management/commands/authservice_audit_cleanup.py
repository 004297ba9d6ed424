"""`manage.py authservice_audit_cleanup`: delete old audit entries. Run it daily."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from authservice.audit import retention
from authservice.core.management.command_line import InterruptibleCommand, counted, progress


class Command(InterruptibleCommand):
    help = "Delete audit entries that are older than AUDIT.RETENTION keeps them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count, but delete nothing")
        parser.add_argument(
            "--batch-size",
            type=int,
            default=retention.BATCH,
            help=f"entries per batch ({retention.BATCH})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["batch_size"] < 1:
            raise CommandError("--batch-size must be at least 1.")
        if options["dry_run"]:
            self.stdout.write(f"{_entries(retention.due_number())} would be deleted")
            return
        with progress(self.stderr, retention.due_number) as show_progress:
            deleted = retention.clean(batch_size=options["batch_size"], progress=show_progress)
        self.stdout.write(f"{_entries(deleted)} deleted")


def _entries(number: int) -> str:
    return counted(number, "entry", "entries")
