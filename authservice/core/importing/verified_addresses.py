"""Imports the addresses that another package has verified, in batches, each with its own commit.

A verified address becomes a proven one, so the first magic link to it removes nothing. Accounts
have one address: further ones of a user are reported and not imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from authservice.core.importing import imported_rows
from authservice.core.recovery import earlier_proofs
from authservice.core.recovery.earlier_proofs import (
    MARKED,
    PRESENT,
    SHARED,
    Plan,
    Proof,
    as_stored,
    proof,
)
from authservice.kernel.imports import ImportOptions, ImportReport, ImportSource

KIND = "address"


@dataclass(frozen=True)
class Address:
    """A row of the package. `reason` says why it proves nothing; "" if it does."""

    row: Any
    user: Any
    email: str
    reason: str = ""


class AddressRows(Protocol):
    """Reads the addresses of one package, whose name in `ImportedRow` is `source`."""

    source: str
    reads: Sequence[str]
    """Labels of the models that it reads."""

    def missing(self) -> str:
        """As in `ImportSource`."""

    def batches(self, options: ImportOptions) -> Iterator[tuple[list[Address], int]]:
        """Each batch with the number of all rows."""


class AddressImport(ImportSource):
    """A source of `authservice_import`: the verified addresses of one package."""

    what = "verified addresses"

    def __init__(self, package: AddressRows) -> None:
        self.package = package
        self.reads = package.reads

    def missing(self) -> str:
        return self.package.missing()

    def run(self, options: ImportOptions) -> ImportReport:
        run, done = _Run(self.package.source, options), 0
        for addresses, total in self.package.batches(options):
            run.add(addresses)
            done += len(addresses)
            options.progress(done, max(done, total))
        run.settle()
        return run.report


@dataclass
class _Run:
    source: str
    options: ImportOptions
    report: ImportReport = field(default_factory=ImportReport)
    shared: dict[Proof, Address] = field(default_factory=dict)

    def add(self, addresses: list[Address]) -> None:
        seen = imported_rows.seen(self.source, KIND, [one.row for one in addresses])
        new = {_proof(one): one for one in addresses if not one.reason and one.row not in seen}
        results = earlier_proofs.mark(list(new), self._plan) if new else {}
        for one in addresses:
            self._count(one, one.reason or results.get(_proof(one), PRESENT))
        self._remember([one.row for key, one in new.items() if results[key] in (MARKED, PRESENT)])

    def settle(self) -> None:
        """Assign the addresses that several users share, by all rows together."""
        settled = earlier_proofs.settle(self.shared, self._plan)
        for key, one in self.shared.items():
            if key in settled:
                self.report.imported += 1
            else:
                self.report.conflict(SHARED, one.row, one.user)
        self._remember([self.shared[key].row for key in settled])

    @property
    def _plan(self) -> Plan | None:
        return as_stored if self.options.dry_run else None

    def _count(self, one: Address, result: str) -> None:
        self.report.read += 1
        if result == MARKED:
            self.report.imported += 1
        elif result == PRESENT:
            self.report.present += 1
        elif result == SHARED:
            self.shared[_proof(one)] = one
        else:
            self.report.skip(result, one.row, one.user)

    def _remember(self, rows: list[Any]) -> None:
        if rows and not self.options.dry_run:
            imported_rows.remember(self.source, KIND, rows)


def _proof(one: Address) -> Proof:
    return proof(one.user, one.email)
