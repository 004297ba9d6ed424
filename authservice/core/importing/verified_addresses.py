"""Imports the addresses that another package has verified, in batches, each with its own commit.

A verified address becomes a proven one, so the first magic link to it removes nothing. Accounts
have one address: further ones of a user are reported and not imported. `AllauthAddresses` and
`DjoserAddresses` read those of the two packages that verify them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.conf import settings

from authservice.core.importing import package_tables
from authservice.core.recovery import chosen_proofs, earlier_proofs
from authservice.core.recovery.earlier_proofs import (
    MARKED,
    PRESENT,
    SHARED,
    Plan,
    Proof,
    as_stored,
    proof,
)
from authservice.core.users.person import email_of
from authservice.core.users.user_model import host
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

    data_kind = "verified addresses"

    def __init__(self, package: AddressRows) -> None:
        self.package = package
        self.reads = package.reads

    def missing(self) -> str:
        return self.package.missing()

    def run(self, options: ImportOptions) -> ImportReport:
        run = _Run(self.package.source, options)
        for addresses in options.each(self.package.batches(options)):
            run.add(addresses)
        run.settle()
        return run.report


@dataclass
class _Run:
    """One run: its report, and the addresses of all batches that several users share."""

    source: str
    options: ImportOptions
    report: ImportReport = field(default_factory=ImportReport)
    shared: dict[Proof, Address] = field(default_factory=dict)

    def add(self, addresses: list[Address]) -> None:
        seen = package_tables.seen(self.source, KIND, [address.row for address in addresses])
        new = [address for address in addresses if not address.reason and address.row not in seen]
        proofs = list(dict.fromkeys(_proof(address) for address in new))
        results = earlier_proofs.mark(proofs, self._plan) if proofs else {}
        self.report.read += len(addresses)
        for address in addresses:
            # A row without a result was imported by an earlier run.
            result = address.reason or results.get(_proof(address), PRESENT)
            if result == MARKED:
                self.report.imported += 1
            elif result == PRESENT:
                self.report.present += 1
            elif result == SHARED:
                self.shared[_proof(address)] = address
            else:
                self.report.skip(result, address.row, address.user)
        done = (MARKED, PRESENT)
        self._remember([address.row for address in new if results[_proof(address)] in done])

    def settle(self) -> None:
        """Assign the shared addresses once the rows of all batches are known: only all of them show
        which user has verified one."""
        settled = earlier_proofs.settle(self.shared, self._plan)
        for key, address in self.shared.items():
            if key in settled:
                self.report.imported += 1
            else:
                self.report.conflict(SHARED, address.row, address.user)
        self._remember([self.shared[key].row for key in settled])

    @property
    def _plan(self) -> Plan | None:
        return as_stored if self.options.dry_run else None

    def _remember(self, rows: list[Any]) -> None:
        if rows and not self.options.dry_run:
            package_tables.remember(self.source, KIND, rows)


def _proof(address: Address) -> Proof:
    return proof(address.user, address.email)


UNVERIFIED = "the package has not verified the address"
INACTIVE = "the user is not active"
LATER = "the user joined after the service was installed, and may have signed up here"


class AllauthAddresses:
    """The addresses of django-allauth, which dj-rest-auth uses too. They have no time, so `--since`
    does not apply."""

    source = "allauth"
    reads: Sequence[str] = ("account.EmailAddress",)

    def missing(self) -> str:
        if package_tables.find(*self.reads):
            return ""
        return (
            "'allauth.account' is not in INSTALLED_APPS. Its tables are read through the models of"
            " django-allauth, so keep it installed until the import is done."
        )

    def batches(self, options: ImportOptions) -> Iterator[tuple[list[Address], int]]:
        rows = package_tables.rows(package_tables.find(*self.reads))
        for batch, total in package_tables.batches(rows, options):
            yield [self._address(row) for row in batch], total

    def _address(self, row: Any) -> Address:
        reason = "" if row.verified else UNVERIFIED
        return Address(row.pk, row.user_id, row.email, reason)


class DjoserAddresses:
    """djoser has no table of addresses. With `SEND_ACTIVATION_EMAIL` its users become active by a
    mailed link, and inactive when they change their address in their profile: then the address of
    an active user is verified. That is not so if the address is the `USERNAME_FIELD`: the route
    `set_email` changes it, and the user stays active. An attacker could have taken the address of
    another person there."""

    source = "djoser"
    reads: Sequence[str] = ()

    def missing(self) -> str:
        if not getattr(settings, "DJOSER", {}).get("SEND_ACTIVATION_EMAIL"):
            return (
                "DJOSER['SEND_ACTIVATION_EMAIL'] is not true, so an active user of djoser has not"
                " verified the address. If your project verifies addresses in another way, name"
                " them with authservice_sync_accounts --verified."
            )
        if host().natural == host().email:
            return (
                "USERNAME_FIELD is the address: djoser's set_email changes it without verifying it."
                " Name the verified ones with authservice_sync_accounts --verified."
            )
        if not (host().joined and host().active):
            return "The user model has no `date_joined` or no `is_active`."
        return ""

    def batches(self, options: ImportOptions) -> Iterator[tuple[list[Address], int]]:
        installed_at = chosen_proofs.installed_at()
        rows = package_tables.rows(host().model)
        for users, total in package_tables.batches(rows, options, added_field=host().joined):
            yield [self._address(user, installed_at) for user in users], total

    def _address(self, user: Any, installed_at: Any) -> Address:
        joined = getattr(user, host().joined)
        reason = "" if getattr(user, host().active) else INACTIVE
        if installed_at is None or joined >= installed_at:
            reason = LATER
        return Address(user.pk, user.pk, email_of(user), reason)
