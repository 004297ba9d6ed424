"""`manage.py authservice_search_index`: indexes for searches and filters of users (PostgreSQL)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError, connections

from authservice.admin import user_list
from authservice.admin.user_list import Index
from authservice.core.management.progress import InterruptibleCommand
from authservice.kernel import databases

# Not a migration, for three reasons: not every database role may create the extension, some indexes
# are on the host project's table, and CREATE INDEX CONCURRENTLY cannot run in a transaction.
_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


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
        wanted = user_list.wanted_indexes(using)
        if options["drop"]:
            for index in wanted:
                self._drop(index)
            return
        created = [index for index in wanted if self._create(index)]
        for table in sorted({index.table for index in created}):
            self._run(f"ANALYZE {table}")

    def _drop(self, index: Index) -> None:
        self._run(f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}")
        self.stdout.write(f"Dropped index {index.name}.")

    def _create(self, index: Index) -> bool:
        """Create the index if it is missing or invalid; returns whether it was created."""
        valid = self._state(index)
        if valid:
            self.stdout.write(f"Index {index.name} already exists.")
            return False
        if index.extension:
            self._require(index.extension)
        if valid is False:
            self._drop(index)  # an aborted run left it unfinished
        self.stdout.write(f"Creating index {index.name} concurrently.")
        self._run(index.create_sql)
        if index.statistics:
            self._run(index.statistics_sql)
        self.stdout.write(f"Created index {index.name}.")
        return True

    def _state(self, index: Index) -> bool | None:
        """Whether the index is valid; None if it does not exist."""
        with self.connection.cursor() as cursor:
            cursor.execute(_VALID, [index.name])
            row = cursor.fetchone()
        return bool(row[0]) if row else None

    def _require(self, extension: str) -> None:
        try:
            self._run(f"CREATE EXTENSION IF NOT EXISTS {extension}")
        except DatabaseError as wrong:
            text = (
                f"Cannot create the extension {extension}"
                f" ({str(wrong).strip().splitlines()[0]}). Install PostgreSQL's contrib modules,"
                f" then run CREATE EXTENSION {extension}; in this database as its owner or a"
                " superuser, and run this command again."
            )
            raise CommandError(text) from wrong

    def _run(self, sql: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
