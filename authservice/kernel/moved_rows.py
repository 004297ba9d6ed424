"""For migrations: move rows into another table, in batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import QuerySet

_BATCH = 1000


def move_rows(rows: QuerySet[Any], model: Any, columns: Callable[[Any], Mapping[str, Any]]) -> None:
    """Store each of the rows as a row of `model` with these columns and the same primary key, and
    delete it. Rows that another process stores meanwhile are moved too."""
    while batch := list(rows.order_by("pk")[:_BATCH]):
        moved = [model(pk=row.pk, **columns(row)) for row in batch]
        model._base_manager.using(rows.db).bulk_create(moved)
        rows.filter(pk__in=[row.pk for row in batch]).delete()
