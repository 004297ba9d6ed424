"""Reports the rows that an import leaves in the tables of a package, why, and what to do about it.

A table is reported if no installed source reads it. So the report also has the rows of a module
that is not installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from authservice.core.importing import package_tables
from authservice.kernel import clock
from authservice.kernel.imports import (
    MOST_NAMED,
    ImportOptions,
    ImportReport,
    ImportSource,
    Rows,
    sources,
)


@dataclass(frozen=True)
class Table:
    """A table of a package. `reason` says why its rows are left, and what to do. `only` limits them
    to those that matter, and `user` is the lookup of their user."""

    label: str
    reason: str
    user: str = "user_id"
    only: Callable[[QuerySet[Any]], QuerySet[Any]] = lambda rows: rows


class LeftRows(ImportSource):
    """A source of `authservice_import`: reports the tables of one package, and imports nothing.

    `package` is its name in `authservice_import`.
    """

    what = "left in the tables of the package"

    def __init__(self, package: str, tables: Sequence[Table]) -> None:
        self.package, self.tables = package, tables

    def missing(self) -> str:
        return "" if any(package_tables.find(one.label) for one in self.tables) else _NO_TABLE

    def run(self, options: ImportOptions) -> ImportReport:
        report, read = ImportReport(), _read(self.package)
        for table in self.tables:
            model = package_tables.find(table.label)
            if model and table.label not in read:
                _report(table, table.only(package_tables.rows(model)), report)
        return report


_NO_TABLE = "no such table is installed."


def unexpired(field: str) -> Callable[[QuerySet[Any]], QuerySet[Any]]:
    """Rows whose time in `field` has not passed; a row without a time never expires."""

    def only(rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.exclude(**{f"{field}__lte": clock.now()})

    return only


def _report(table: Table, rows: QuerySet[Any], report: ImportReport) -> None:
    number = rows.count()
    if not number:
        return
    report.read += number
    # The primary key may be a digest of a token, as that of knox is: only users are named.
    users = rows.order_by("pk").values_list(table.user, flat=True)[:MOST_NAMED]
    left = report.skipped.setdefault(table.reason, Rows())
    left.number += number
    left.named += [(table.label, user) for user in users]


def _read(package: str) -> set[str]:
    """Labels of the models that the installed sources of this package read."""
    return {label for name, source in sources() if name == package for label in source.reads}
