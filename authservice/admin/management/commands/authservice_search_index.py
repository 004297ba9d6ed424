"""`manage.py authservice_search_index`: indexes for searches and filters of users (PostgreSQL).

No migration creates them, for three reasons: not every database role may create the extension, some
indexes are on the host project's table, and CREATE INDEX CONCURRENTLY cannot run in a transaction.
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError, connections

from authservice.admin import user_list
from authservice.admin.user_list import Index
from authservice.core.management.command_line import InterruptibleCommand
from authservice.kernel import databases

_IS_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


class Command(InterruptibleCommand):
    help = "Create the indexes for searches and filters of users (PostgreSQL), or drop them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--drop", action="store_true", help="drop the indexes")

    def handle(self, *args: Any, **options: Any) -> None:
        using = databases.primary()
        self.connection = connections[using]
        if self.connection.vendor != "postgresql":
            name = self.connection.display_name
            self.stdout.write(f"Nothing to do: {name} has no index type for these searches.")
            return
        indexes = user_list.wanted_indexes(using)
        if options["drop"]:
            for index in indexes:
                self._drop(index)
            return
        created = [index for index in indexes if self._create(index)]
        for table in sorted({index.table for index in created}):
            self._run(f"ANALYZE {table}")

    def _drop(self, index: Index) -> None:
        self._run(f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}")
        self.stdout.write(f"Dropped index {index.name}.")

    def _create(self, index: Index) -> bool:
        """Create the index if it is missing or invalid; returns whether it was created."""
        with self.connection.cursor() as cursor:
            cursor.execute(_IS_VALID, [index.name])
            row = cursor.fetchone()  # None if there is no such index
        if row and row[0]:
            self.stdout.write(f"Index {index.name} already exists.")
            return False
        if index.extension:
            try:
                self._run(f"CREATE EXTENSION IF NOT EXISTS {index.extension}")
            except DatabaseError as error:
                reason = str(error).strip().splitlines()[0]
                raise CommandError(
                    f"Cannot create the extension {index.extension} ({reason}). Install"
                    f" PostgreSQL's contrib modules, then run CREATE EXTENSION {index.extension};"
                    " in this database as its owner or a superuser, and run this command again."
                ) from error
        if row:
            self._drop(index)  # an aborted run left it unfinished
        self.stdout.write(f"Creating index {index.name} concurrently.")
        self._run(index.create_sql)
        if index.statistics:
            self._run(index.statistics_sql)
        self.stdout.write(f"Created index {index.name}.")
        return True

    def _run(self, sql: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
