"""For migrations: move rows into another table, in batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from django.db.models import QuerySet

_BATCH = 1000


def move_rows(rows: QuerySet[Any], model: Any, columns: Callable[[Any], Mapping[str, Any]]) -> None:
    """Store each of the rows as a row of `model` with these columns and the same primary key, and
    then delete the rows."""
    remaining = rows.iterator(chunk_size=_BATCH)
    while batch := list(islice(remaining, _BATCH)):
        moved = [model(pk=row.pk, **columns(row)) for row in batch]
        model._base_manager.using(rows.db).bulk_create(moved)
    rows.delete()
