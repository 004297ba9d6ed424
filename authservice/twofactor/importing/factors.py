"""Imports authenticator apps with their backup codes, in batches, each with its own commit.

The same app and the same codes work here as in the other package. A code that was used there is not
accepted again. No session ends and no notice is sent, because the user gets no new factor. If the
user has a second factor here, it does not change.

An imported factor counts as enabled at the import: devices that logged in here before it, without a
code, have no attempts of their own at its codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from django.db import transaction

from authservice.core.importing import imported_rows
from authservice.core.importing.owners import Owners
from authservice.kernel import databases, events
from authservice.kernel.client import Client
from authservice.kernel.imports import REFUSED, ImportOptions, ImportReport, ImportSource
from authservice.kernel.retries import write_or_split
from authservice.kernel.secret import Secret
from authservice.twofactor import authenticators, backup_codes
from authservice.twofactor.models import Authenticator, BackupCode

KIND = "factor"
SECOND = "the user has another authenticator app, and here each user has one"
CODE_FORM = "a backup code was left: it must have 8 to 32 of the characters A-Z and 0-9"
EARLIER_CODES = (
    "its backup codes were left: the address of the account was proven here after they were made"
)


@dataclass(frozen=True)
class Factor:
    """An authenticator app in the package with its unused backup codes, and when these were made if
    the package knows. `reason` says why the app cannot be imported; "" if it can. `before` has row
    and time of the user's apps that are imported instead, if they may be."""

    row: Any
    user: Any
    reason: str = ""
    secret: Secret = field(default_factory=lambda: Secret(""))
    codes: Sequence[Secret] = ()
    codes_added_at: datetime | None = None
    last_step: int = 0
    added_at: datetime | None = None
    last_used_at: datetime | None = None
    before: Sequence[tuple[Any, datetime | None]] = ()


class FactorRows(Protocol):
    """Reads the factors of one package, whose name in `ImportedRow` is `source`."""

    source: str
    reads: Sequence[str]
    """Labels of the models that it reads."""

    def missing(self) -> str:
        """As in `ImportSource`."""

    def batches(self, options: ImportOptions) -> Iterator[tuple[list[Factor], int]]:
        """Each batch with the number of all rows."""

    def left(self) -> Iterator[tuple[str, Any, Any]]:
        """Reason, row and user of what is not a factor, such as codes of users without an app."""


class FactorImport(ImportSource):
    """A source of `authservice_import`: the authenticator apps of one package."""

    what = "authenticator apps and backup codes"

    def __init__(self, package: FactorRows) -> None:
        self.package = package
        self.reads = package.reads

    def missing(self) -> str:
        return self.package.missing()

    def run(self, options: ImportOptions) -> ImportReport:
        run, done = _Run(self.package.source, options), 0
        for factors, total in self.package.batches(options):
            run.add(factors)
            done += len(factors)
            options.progress(done, max(done, total))
        for reason, row, user in self.package.left():
            run.report.skip(reason, row, user)
        return run.report


@dataclass
class _Run:
    source: str
    options: ImportOptions
    report: ImportReport = field(default_factory=ImportReport)
    # In a dry run, the users of earlier batches who would have a factor.
    enabled: set[Any] = field(default_factory=set)

    def add(self, factors: list[Factor]) -> None:
        results: dict[Any, str] = {}
        earlier: set[Any] = set()
        for found, left_codes in write_or_split(self._import, factors, _refused):
            results |= found
            earlier |= left_codes
        for one in factors:
            left = EARLIER_CODES if one.row in earlier else _left_codes(one)
            self._count(one, results[one.row], left_codes=left)

    def _import(self, factors: Sequence[Factor]) -> tuple[dict[Any, str], set[Any]]:
        """The result for each row: `KIND` if it was imported, "" if the user had a factor already,
        else the reason why it was left; and the rows whose codes are from before a proof."""
        with transaction.atomic(using=databases.primary()):
            before = [row for one in factors for row, _ in one.before]
            rows = {*before, *(one.row for one in factors)}
            seen = imported_rows.seen(self.source, KIND, rows)
            lock = not self.options.dry_run
            owners = Owners.of({one.user for one in factors}, lock=lock)
            stored = authenticators.rows().filter(user__in=owners.users, confirmed=True)
            enabled = {*stored.values_list("user_id", flat=True)}
            results = self._results(factors, owners, enabled=enabled, seen=seen)
            earlier = {one.row for one in factors if _has_earlier_codes(one, owners)}
            if lock:
                new = [
                    replace(one, codes=()) if one.row in earlier else one
                    for one in factors
                    if results[one.row] == KIND
                ]
                _store(new, owners)
                here = [row for row, result in results.items() if result in (KIND, "")]
                imported_rows.remember(self.source, KIND, here)
        return results, earlier

    def _results(
        self,
        factors: Sequence[Factor],
        owners: Owners,
        *,
        enabled: set[Any],
        seen: Mapping[Any, datetime],
    ) -> dict[Any, str]:
        results: dict[Any, str] = {}
        chosen = self.enabled if self.options.dry_run else set()
        for one in factors:
            doubt = owners.doubt(one.user, one.added_at)
            removed = {} if one.user in enabled else seen
            if one.reason or one.user in chosen or _is_second(one, owners, removed):
                results[one.row] = one.reason or SECOND
            elif one.user in enabled:
                results[one.row] = ""
            elif one.row in seen or doubt:
                results[one.row] = doubt or imported_rows.REMOVED
            else:
                results[one.row] = KIND
                chosen.add(one.user)
        return results

    def _count(self, one: Factor, result: str, *, left_codes: str) -> None:
        self.report.read += 1
        if result == KIND:
            self.report.imported += 1
            if left_codes:
                self.report.skip(left_codes, one.row, one.user)
        elif not result:
            self.report.present += 1
        else:
            self.report.skip(result, one.row, one.user)


def _refused(one: Factor) -> tuple[dict[Any, str], set[Any]]:
    return {one.row: REFUSED}, set()


def _has_earlier_codes(one: Factor, owners: Owners) -> bool:
    """Whether the codes are from before the proof of the address. They may be an attacker's, also
    beside an app that the owner set up later."""
    known = bool(one.codes) and one.codes_added_at is not None
    return known and bool(owners.doubt(one.user, one.codes_added_at))


def _left_codes(one: Factor) -> str:
    importable = all(backup_codes.is_importable(code) for code in one.codes)
    return "" if importable else CODE_FORM


def _is_second(one: Factor, owners: Owners, removed: Mapping[Any, datetime]) -> bool:
    """Whether another app of the user comes before this one.

    An app from before the proof of the address does not: it may be an attacker's, who uses it most.
    One that was imported and `removed` here since does, unless this one was added after that
    import: the user had both and wants no second factor.
    """

    def comes_first(row: Any, added_at: datetime | None) -> bool:
        replaced = row in removed and one.added_at is not None and one.added_at > removed[row]
        return not replaced and not owners.doubt(one.user, added_at)

    return any(comes_first(row, added_at) for row, added_at in one.before)


def _store(new: Sequence[Factor], owners: Owners) -> None:
    """The users are locked, so no set-up can be confirmed meanwhile."""
    if not new:
        return
    users = [one.user for one in new]
    authenticators.rows().filter(user__in=users, confirmed=False).delete()
    authenticators.rows().bulk_create([_row(one) for one in new])
    # Not all databases return the keys of new rows, and the digests of codes contain them.
    stored = {row.user_id: row for row in authenticators.rows().filter(user__in=users)}
    codes = [code for one in new for code in _codes(stored[one.user], one)]
    BackupCode.objects.bulk_create(codes)
    targets = [owners.users[user] for user in users]
    events.record_all_by_staff("auth.2fa.enabled", None, targets, Client(), reason="import")


def _row(one: Factor) -> Authenticator:
    return authenticators.unsaved(
        one.user,
        one.secret,
        last_step=one.last_step,
        set_up_at=one.added_at,
        last_used_at=one.last_used_at,
    )


def _codes(authenticator: Authenticator, one: Factor) -> list[BackupCode]:
    usable = [code for code in one.codes if backup_codes.is_importable(code)]
    # A package may have stored a code twice, or in two spellings.
    digests = dict.fromkeys(backup_codes.digest_of(authenticator, code) for code in usable)
    return [BackupCode(authenticator=authenticator, digest=digest) for digest in digests]
