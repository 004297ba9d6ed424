"""What `authservice_import` and its sources share: options, report and the slot `import_sources`.

A source reads the tables of another package and writes those of the module that fills the slot. If
several modules import data of one package, they fill the slot under one name and the command runs
all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

MOST_NAMED = 10


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


class ImportSource(Protocol):
    """Imports one kind of data from one package. `what` names the data, in lower case. An attribute
    `reads` may have the labels of the package's models that it reads, such as
    "account.EmailAddress": rows of the package that no installed source reads are reported."""

    what: str

    def missing(self) -> str:
        """What has to be installed first, as a sentence; empty if nothing is missing."""

    def run(self, options: ImportOptions) -> ImportReport:
        """Import, or only report with `dry_run`. Can be repeated: rows that were imported are
        skipped. Raises `CannotImport`."""


class ImportSources(Protocol):
    """Slot `import_sources`: for each name of a source, the object that imports from it."""

    def __call__(self) -> Mapping[str, ImportSource]: ...
