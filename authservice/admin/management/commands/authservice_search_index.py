"""`manage.py authservice_search_index`: what makes searches and filters quick on PostgreSQL."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections

from authservice.admin import indexes
from authservice.admin.indexes import Index
from authservice.kernel import databases

# No migration: an extension is not ours to make in every database, nor is an index on the host's
# table, and what is built while others write must not be built within a transaction.
_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


class Command(BaseCommand):
    help = "Make the indexes that serve searches and filters of users (PostgreSQL), or drop them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--drop", action="store_true", help="drop the indexes")

    def handle(self, *args: Any, **options: Any) -> None:
        using = databases.primary()
        self.connection = connections[using]
        if self.connection.vendor != "postgresql":
            name = self.connection.display_name
            self.stdout.write(f"Nothing to do: {name} has no index that serves such searches.")
            return
        wanted = indexes.wanted(using)
        if options["drop"]:
            for index in wanted:
                self._drop(index)
            return
        made = [index for index in wanted if self._make(index)]
        for table in sorted({index.table for index in made}):
            self._run(f"ANALYZE {table}")

    def _drop(self, index: Index) -> None:
        self._run(f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}")
        self.stdout.write(f"Dropped {index.name}.")

    def _make(self, index: Index) -> bool:
        """Whether it was not there, or not whole."""
        valid = self._state(index)
        if valid:
            self.stdout.write(f"{index.name} is there already.")
            return False
        if index.extension:
            self._require(index.extension)
        if valid is False:
            self._drop(index)  # left unfinished by a run that was broken off
        self.stdout.write(f"Making {index.name}; nobody waits for it.")
        self._run(index.making)
        if index.sampled:
            self._run(index.sampling)
        self.stdout.write(f"Made {index.name}.")
        return True

    def _state(self, index: Index) -> bool | None:
        """Whether the index is there and whole; None if it is not there at all."""
        with self.connection.cursor() as cursor:
            cursor.execute(_VALID, [index.name])
            row = cursor.fetchone()
        return bool(row[0]) if row else None

    def _require(self, extension: str) -> None:
        try:
            self._run(f"CREATE EXTENSION IF NOT EXISTS {extension}")
        except DatabaseError as wrong:
            text = (
                f"The extension {extension} cannot be made here"
                f" ({str(wrong).strip().splitlines()[0]}). Install PostgreSQL's contrib modules,"
                f" then run CREATE EXTENSION {extension}; in this database as its owner or a"
                " superuser, and run this command again."
            )
            raise CommandError(text) from wrong

    def _run(self, sql: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
