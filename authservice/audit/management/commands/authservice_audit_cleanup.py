"""`manage.py authservice_audit_cleanup`: delete old audit entries. Run it daily."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from authservice.audit import retention


class Command(BaseCommand):
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
            number = sum(rows.count() for rows in retention.due(datetime.now(UTC)))
            self.stdout.write(f"{number} entries would be deleted")
            return
        deleted = retention.clean(batch_size=options["batch_size"])
        self.stdout.write(f"{deleted} entries deleted")
