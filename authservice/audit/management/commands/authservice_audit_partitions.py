"""`manage.py authservice_audit_partitions`: keep the audit table in months (PostgreSQL)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import OperationalError, connections

from authservice.audit import partitions
from authservice.core.management.progress import InterruptibleCommand, counted
from authservice.kernel import databases

AHEAD = 3
MOST = 120


class Command(InterruptibleCommand):
    help = (
        "Partition the audit table by month (PostgreSQL), create the partitions of the next months,"
        " and drop the expired entries of past ones. Run it daily."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--months",
            type=int,
            default=AHEAD,
            help=f"how many months ahead partitions are created ({AHEAD})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[databases.primary()]
        if connection.vendor != "postgresql":
            name = connection.display_name
            raise CommandError(f"The audit table is partitioned on PostgreSQL only, not on {name}.")
        if not 1 <= options["months"] <= MOST:
            raise CommandError(f"--months must be from 1 to {MOST}.")
        try:
            self._keep(options["months"])
        except partitions.UnsuitableTable as wrong:
            raise CommandError(
                f"{wrong} A partitioned table in its place would lose them: drop them first."
            ) from wrong
        except OperationalError as wrong:
            reason = str(wrong).strip().splitlines()[0]
            raise CommandError(
                f"{reason}. Finished steps are kept: run the command again."
            ) from wrong

    def _keep(self, months: int) -> None:
        changed = False
        former = None if partitions.is_partitioned() else partitions.convert()
        if former:
            changed = True
            self.stdout.write(f"Partitioned. Earlier entries are in {former.name}.")
        for name in partitions.extend(months):
            changed = True
            self.stdout.write(f"Created {name}.")
        for name, number in partitions.shrink().items():
            changed = True
            self.stdout.write(f"{name}: {counted(number, 'entry', 'entries')} dropped.")
        if changed:
            partitions.analyze()
        else:
            self.stdout.write("Nothing to do.")
