"""Loads the recorded rows of a release, and migrates them to this version, as an upgrade does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from django.core.management.color import no_style
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import ForeignKey, Model

from tests.upgrade import files


def load(folder: Path, module: str) -> None:
    """Migrate to where the release was, insert its rows, and migrate to the newest migration.

    The rows are inserted with the models of the release, so they need not fit the present ones.
    """
    executor = MigrationExecutor(connection)
    newest = executor.loader.graph.leaf_nodes()
    release = list(_leaves(folder, newest))
    executor.migrate(release)
    executor.loader.build_graph()
    # With the newest tables of the project's user model.
    others = [node for node in newest if not node[0].startswith("authservice_")]
    models = executor.loader.project_state([*release, *others]).apps
    for label, rows in groupby(files.read(folder / module / files.ROWS), lambda row: row["model"]):
        _insert(models.get_model(label), list(rows))
    MigrationExecutor(connection).migrate(newest)


def _leaves(folder: Path, newest: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The newest recorded migration of each app of the package."""
    last: dict[str, str] = {}
    for path in files.read(folder / files.MIGRATIONS):
        _, module, _, name = path.split("/")
        last[f"authservice_{module}"] = name.removesuffix(".py")
    installed = {label for label, _ in newest}
    yield from ((label, name) for label, name in last.items() if label in installed)


def _insert(model: Any, rows: list[Any]) -> None:
    model._base_manager.bulk_create(_row(model, row) for row in rows)
    statements = connection.ops.sequence_reset_sql(no_style(), [model])
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _row(model: Any, row: Any) -> Model:
    values = {**row["fields"], model._meta.pk.name: row["pk"]}
    given = {
        field.attname: _value(field, values[field.name])
        for field in model._meta.concrete_fields
        if field.name in values
    }
    return model(**given)


def _value(field: Any, value: Any) -> Any:
    of = field.target_field if isinstance(field, ForeignKey) else field
    return of.to_python(value)
