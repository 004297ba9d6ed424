"""`manage.py authservice_search_index`: what makes searches quick, where an extension is needed."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections

from authservice.admin import search
from authservice.core import directory

# No migration: an extension is not ours to make in every database, and an index that is built
# while others write must not be built within a transaction.
_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
# Of a thousand texts rather than a hundred the planner can tell a rare one from a common one.
_STATISTICS = "ALTER INDEX {index} ALTER COLUMN 1 SET STATISTICS 1000"


class Command(BaseCommand):
    help = "Make the index that serves searches for users (PostgreSQL), or drop it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--drop", action="store_true", help="drop the index")

    def handle(self, *args: Any, **options: Any) -> None:
        self.connection = connections[directory.database()]
        if self.connection.vendor != "postgresql":
            name = self.connection.display_name
            self.stdout.write(f"Nothing to do: {name} has no index that serves such searches.")
        elif options["drop"]:
            self._drop()
        else:
            self._make()

    def _drop(self) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {search.INDEX}")
        self.stdout.write(f"Dropped {search.INDEX}.")

    def _make(self) -> None:
        valid = self._state()
        if valid:
            self.stdout.write(f"{search.INDEX} is there already.")
            return
        self._require_extension()
        if valid is False:
            self._drop()  # left unfinished by a run that was broken off
        self.stdout.write(f"Making {search.INDEX}; nobody waits for it.")
        with self.connection.cursor() as cursor:
            cursor.execute(search.index_sql(directory.database()))
            cursor.execute(_STATISTICS.format(index=search.INDEX))
            cursor.execute(f"ANALYZE {search.table(directory.database())}")
        self.stdout.write(f"Made {search.INDEX}.")

    def _state(self) -> bool | None:
        """Whether the index is there and whole; None if it is not there at all."""
        with self.connection.cursor() as cursor:
            cursor.execute(_VALID, [search.INDEX])
            row = cursor.fetchone()
        return bool(row[0]) if row else None

    def _require_extension(self) -> None:
        try:
            with self.connection.cursor() as cursor:
                cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        except DatabaseError as wrong:
            text = (
                "The extension pg_trgm cannot be made here"
                f" ({str(wrong).strip().splitlines()[0]}). Install PostgreSQL's contrib modules,"
                " then run CREATE EXTENSION pg_trgm; in this database as its owner or a"
                " superuser, and run this command again."
            )
            raise CommandError(text) from wrong
