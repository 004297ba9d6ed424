"""Reads the tables of other packages through Django's registry of models, in batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db.models import Model, QuerySet

from authservice.kernel import databases
from authservice.kernel.imports import ImportOptions


def find(label: str) -> type[Model] | None:
    """The model with this label, such as "account.EmailAddress"; None if it is not installed."""
    try:
        model: type[Model] = apps.get_model(label)
    except LookupError:
        return None
    return model


def rows(model: Any) -> QuerySet[Any]:
    """All rows, from the database that the package writes to, because a replica may lag behind."""
    queryset: QuerySet[Any] = model._base_manager.using(databases.written(model))
    return queryset


def batches(
    queryset: QuerySet[Any], options: ImportOptions, *, added_field: str = ""
) -> Iterator[tuple[list[Any], int]]:
    """The rows in the order of their keys, each batch with the number of all rows. If the package
    stores when it added a row, `added_field` is the field of that time: rows from before
    `options.since` are left out, and rows without a time are read."""
    queryset = queryset.order_by("pk")
    if options.since and added_field:
        queryset = queryset.exclude(**{f"{added_field}__lt": options.since})
    total, last = queryset.count(), None
    remaining = queryset
    while batch := list(remaining[: options.batch_size]):
        yield batch, total
        last = batch[-1].pk
        remaining = queryset.filter(pk__gt=last)
