"""Stores which rows of another package were imported, so that no later run imports them again.

A user, staff or a recovery may have removed a link or a second factor since. Importing it again
would give access back to an intruder, or require a code of a phone that the user has lost.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from authservice.core.models import KEY, ImportedRow
from authservice.kernel import databases
from authservice.kernel.crypto import fingerprint

REMOVED = "it was imported by an earlier run and was removed here since"


def seen(source: str, kind: str, rows: Collection[Any]) -> dict[Any, datetime]:
    """Which of these primary keys of the other package were imported, and when. One statement."""
    keys = {_key(row): row for row in rows}
    imported = ImportedRow.objects.filter(source=source, kind=kind, key__in=list(keys))
    return {keys[key]: moment for key, moment in imported.values_list("key", "imported_at")}


def remember(source: str, kind: str, rows: Collection[Any]) -> None:
    """Store that these rows were imported, once what they become is stored. One statement."""
    new = [ImportedRow(source=source, kind=kind, key=_key(row)) for row in rows]
    ImportedRow.objects.using(databases.primary()).bulk_create(new, ignore_conflicts=True)


def _key(row: Any) -> str:
    text = str(row)
    return text if len(text) <= KEY else fingerprint(text)
