"""`manage.py authservice_audit_partitions`: partition the audit table by month (PostgreSQL)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import OperationalError, connections

from authservice.audit import partitions
from authservice.core.management.command_line import InterruptibleCommand, counted
from authservice.kernel import databases

# Numbers of months.
AHEAD = 3
MAX_AHEAD = 120


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
        if not 1 <= options["months"] <= MAX_AHEAD:
            raise CommandError(f"--months must be from 1 to {MAX_AHEAD}.")
        try:
            self._maintain(options["months"])
        except partitions.UnsuitableTable as error:
            # The text of the error names the objects that depend on the table.
            raise CommandError(
                f"{error} A partitioned table in its place would lose these objects: drop them"
                " first."
            ) from error
        except OperationalError as error:
            reason = str(error).strip().splitlines()[0]
            raise CommandError(
                f"{reason}. Finished steps are kept: run the command again."
            ) from error

    def _maintain(self, months: int) -> None:
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
