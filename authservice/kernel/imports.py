"""What `authservice_import` and its sources share: options, report, and how sources are found.

A source reads the tables of another package and writes those of its module. If several modules
import data of the same package, the command runs the sources of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from typing import Any, TypeVar

from django.utils.module_loading import module_has_submodule

from authservice.kernel.modules import installed

Row = TypeVar("Row")

MOST_NAMED = 10
# The reason of a row that a constraint or a trigger of the database refuses.
REFUSED = "the database refuses the imported row"


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """Options of a run.

    `names` has our name for a name of the other package (`--map theirs=ours`). Rows that the other
    package added before `since` are not read. `progress` is called with the number of rows done and
    their total.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    since: datetime | None = None
    batch_size: int = 500
    dry_run: bool = False
    progress: Callable[[int, int], None] = lambda done, total: None

    def each(self, batches: Iterable[tuple[list[Row], int]]) -> Iterator[list[Row]]:
        """Yield the rows of each batch, and call `progress` after each. A batch comes with the
        total number of rows."""
        done = 0
        for batch, total in batches:
            yield batch
            done += len(batch)
            # Rows may be added during a run.
            self.progress(done, max(done, total))


@dataclass
class Rows:
    """Rows of the other package with one result. `named` has the keys of the first ones, each with
    the key of its user."""

    number: int = 0
    named: list[tuple[Any, Any]] = field(default_factory=list)

    def add(self, row: Any, user: Any) -> None:
        self.number += 1
        if len(self.named) < MOST_NAMED:
            self.named.append((row, user))


@dataclass
class ImportReport:
    """The result of a run. `present` counts rows that are stored here already. `conflicts` and
    `skipped` have the rows that were not imported; their keys are the reasons, in words."""

    read: int = 0
    imported: int = 0
    present: int = 0
    conflicts: dict[str, Rows] = field(default_factory=dict)
    skipped: dict[str, Rows] = field(default_factory=dict)

    def conflict(self, reason: str, row: Any, user: Any) -> None:
        self.conflicts.setdefault(reason, Rows()).add(row, user)

    def skip(self, reason: str, row: Any, user: Any) -> None:
        self.skipped.setdefault(reason, Rows()).add(row, user)


class CannotImport(Exception):
    """The import cannot begin; the text says what to change, for the operator."""


class ImportSource:
    """Base class: imports one kind of data from one package."""

    data_kind: str
    """The data, in lower case."""

    reads: Collection[str] = ()
    """The labels of the package's models that it reads, such as "account.EmailAddress": rows of the
    package that no installed source reads are reported."""

    only_reports = False
    """Whether it imports nothing: it names rows of the package that stay there, and why."""

    def missing(self) -> str:
        """What has to be installed first, as a sentence; empty if nothing is missing."""
        return ""

    def run(self, options: ImportOptions) -> ImportReport:
        """Import, or only report with `dry_run`. Can be repeated: rows that were imported are
        skipped. Raises `CannotImport`."""
        raise NotImplementedError


def sources() -> Iterator[tuple[str, ImportSource]]:
    """The sources of the installed modules, each with the name of its package: those that
    `import_sources` in `importing/sources.py` of each module returns."""
    for config in installed():
        if module_has_submodule(config.module, "importing"):
            yield from import_module(f"{config.name}.importing.sources").import_sources()
