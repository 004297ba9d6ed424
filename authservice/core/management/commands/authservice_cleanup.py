"""`manage.py authservice_cleanup`: delete expired rows. Run it once a day."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError

from authservice.core.cleanup import delete_expired, expired_rows
from authservice.core.management.command_line import InterruptibleCommand, progress
from authservice.core.messages import security_notice

_LONGEST = 36_500  # days


class Command(InterruptibleCommand):
    help = (
        "Delete one-time tokens a day after they expired or were used, sessions some time after"
        " they ended, and attempt counters that have no effect any more. No valid"
        " session ends, and no lockout is lifted early."
        " Security notices that were lost are sent again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--keep-days", type=int, default=30, help="days to keep ended sessions for (30)"
        )
        parser.add_argument("--dry-run", action="store_true", help="count, but delete nothing")
        parser.add_argument("--batch-size", type=int, default=1000, help="rows per batch (1000)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["batch_size"] < 1:
            raise CommandError("--batch-size must be at least 1.")
        if not 0 <= options["keep_days"] <= _LONGEST:
            raise CommandError(f"--keep-days must be between 0 and {_LONGEST}.")
        for expired in expired_rows(sessions_kept=timedelta(days=options["keep_days"])):
            if options["dry_run"]:
                self.stdout.write(f"{expired.name}: {expired.rows.count()} would be deleted")
            else:
                with progress(self.stderr, expired.rows.count) as show:
                    size = options["batch_size"]
                    deleted = delete_expired(expired, batch_size=size, progress=show)
                self.stdout.write(f"{expired.name}: {deleted} deleted")
        if not options["dry_run"] and (sent := security_notice.send_again()):
            self.stdout.write(f"lost security notices: {sent} sent again")
