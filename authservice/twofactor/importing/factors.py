"""Imports authenticator apps with their backup codes, in batches, each with its own commit.

The same app and the same codes work here as in the other package. A code that was used there is not
accepted again. No session ends and no notice is sent, because the user gets no new factor. If the
user has a second factor here, it does not change.

The secret of an app comes in the form that its package stores, and is refused if it is too short,
cannot be read, or has other parameters than those of this module.

An imported factor counts as enabled at the import: devices that logged in here before the import,
without a code, have no attempts of their own at its codes.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from django.db import transaction
from django.utils import timezone

from authservice.core.importing import package_tables
from authservice.core.importing.package_tables import Owners
from authservice.kernel import clock, databases, events
from authservice.kernel.client import Client
from authservice.kernel.imports import REFUSED, ImportOptions, ImportReport, ImportSource
from authservice.kernel.secret import Secret
from authservice.twofactor import authenticators
from authservice.twofactor.models import Authenticator, BackupCode

KIND = "factor"  # in the rows of `ImportedRow`
# Reasons why an app or its codes are not imported, for the report.
SECOND = "the user has another authenticator app, and here each user has one"
OTHER = (
    "the user has another authenticator app here, which stays. If the app of the package is newer,"
    " disable the second factor here (authservice_disable_2fa) and import again"
)
NO_APP = "backup codes of a user without an authenticator app"
CODE_FORM = "a backup code was left: it must have 8 to 32 of the characters A-Z and 0-9"
EARLIER_CODES = (
    "its backup codes were left: the address of the account was proven here after they were made"
)
PERIOD, DIGITS = 30, 6
PARAMETERS = (
    "its codes are not those of every app (6 digits, 30 seconds): the user has to set it up again"
)
UNREADABLE = "its secret cannot be read"
SHORT = "its secret has less than 80 bits"
LONG = "its secret has more than 512 bits"
FUTURE = "its last code is one of the future"

# In bytes. RFC 4226 section 4 requires 128 bits, but Google Authenticator's own secrets had 80. A
# shorter secret can be found by trying all secrets against a few codes.
_SHORTEST, _LONGEST = 10, 64
# Steps. A package may accept codes of later steps, but not of steps so far in the future.
_AHEAD = 100


class NotImportable(Exception):
    """The factor cannot be imported; the text is the reason."""


@dataclass(frozen=True)
class Factor:
    """An authenticator app in the package with its unused backup codes, and when these were made if
    the package knows. `reason` says why the app cannot be imported; "" if it can. `before` has the
    row of each other app of the user that comes before this one, and when that app was added: the
    first one that may be imported is imported instead of this app."""

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

    def skipped_rows(self) -> Iterator[tuple[str, Any, Any]]:
        """Reason, row and user of what is not a factor, such as codes of users without an app."""


class FactorImport(ImportSource):
    """A source of `authservice_import`: the authenticator apps of one package."""

    data_kind = "authenticator apps and backup codes"

    def __init__(self, package: FactorRows) -> None:
        self.package = package
        self.reads = package.reads

    def missing(self) -> str:
        return self.package.missing()

    def run(self, options: ImportOptions) -> ImportReport:
        run = _Run(self.package.source, options)
        for factors in options.each(self.package.batches(options)):
            run.add(factors)
        for reason, row, user in self.package.skipped_rows():
            run.report.skip(reason, row, user)
        return run.report


@dataclass
class _Run:
    source: str
    options: ImportOptions
    report: ImportReport = field(default_factory=ImportReport)
    # A dry run stores no rows: the users of earlier batches who would have a factor.
    would_have_factor: set[Any] = field(default_factory=set)

    def add(self, factors: list[Factor]) -> None:
        results: dict[Any, str] = {}
        rows_with_early_codes: set[Any] = set()
        for part_results, part_rows in databases.write_or_split(self._import, factors, _refused):
            results |= part_results
            rows_with_early_codes |= part_rows
        for factor in factors:
            self.report.read += 1
            result = results[factor.row]
            codes_reason = ""
            if factor.row in rows_with_early_codes:
                codes_reason = EARLIER_CODES
            elif not all(authenticators.is_importable_backup_code(code) for code in factor.codes):
                codes_reason = CODE_FORM
            if result not in (KIND, ""):
                self.report.skip(result, factor.row, factor.user)
            elif not result:
                self.report.present += 1
            else:
                self.report.imported += 1
                if codes_reason:
                    self.report.skip(codes_reason, factor.row, factor.user)

    def _import(self, factors: Sequence[Factor]) -> tuple[dict[Any, str], set[Any]]:
        """The result for each row: `KIND` if it was imported, "" if the user had a factor already,
        otherwise the reason why it was not imported. Also the rows whose codes are from before the
        proof of the address."""
        with transaction.atomic(using=databases.primary()):
            before = [row for factor in factors for row, _ in factor.before]
            rows = {*before, *(factor.row for factor in factors)}
            imported_before = package_tables.seen(self.source, KIND, rows)
            write = not self.options.dry_run
            owners = Owners.of({factor.user for factor in factors}, lock=write)
            stored = Authenticator.objects.filter(user__in=owners.users, confirmed=True)
            enabled = {row.user_id: row for row in stored}
            results = self._results(factors, owners, enabled=enabled, seen=imported_before)
            # Codes from before the proof of the address may be an attacker's, also beside an app
            # that the owner set up later.
            rows_with_early_codes = {
                factor.row
                for factor in factors
                if factor.codes
                and factor.codes_added_at
                and owners.doubt(factor.user, factor.codes_added_at)
            }
            if write:
                new = [
                    replace(factor, codes=()) if factor.row in rows_with_early_codes else factor
                    for factor in factors
                    if results[factor.row] == KIND
                ]
                _store(new, owners)
                rows_here = [row for row, result in results.items() if result in (KIND, "")]
                package_tables.remember(self.source, KIND, rows_here)
        return results, rows_with_early_codes

    def _results(
        self,
        factors: Sequence[Factor],
        owners: Owners,
        *,
        enabled: Mapping[Any, Authenticator],
        seen: Mapping[Any, datetime],
    ) -> dict[Any, str]:
        results: dict[Any, str] = {}
        users_with_factor = self.would_have_factor if self.options.dry_run else set()
        for factor in factors:
            doubt = owners.doubt(factor.user, factor.added_at)
            # An imported app whose user has no factor now was removed here since.
            removed = {} if factor.user in enabled else seen
            if (
                factor.reason
                or factor.user in users_with_factor
                or _is_second(factor, owners, removed)
            ):
                results[factor.row] = factor.reason or SECOND
            elif factor.user in enabled:
                same = authenticators.has_secret(enabled[factor.user], factor.secret)
                results[factor.row] = "" if same else OTHER
            elif factor.row in seen or doubt:
                results[factor.row] = doubt or package_tables.REMOVED
            else:
                results[factor.row] = KIND
                users_with_factor.add(factor.user)
        return results


def _refused(factor: Factor) -> tuple[dict[Any, str], set[Any]]:
    return {factor.row: REFUSED}, set()


def _is_second(factor: Factor, owners: Owners, removed: Mapping[Any, datetime]) -> bool:
    """Whether another app of the user comes before this one.

    An app from before the proof of the address does not come first: it may be an attacker's, who
    uses it most. An app that was imported by an earlier run and `removed` here since still comes
    first, unless this app is known to be added after that import: the user had both apps and wants
    no second factor.
    """

    def comes_first(row: Any, added_at: datetime | None) -> bool:
        replaced = row in removed and factor.added_at is not None and factor.added_at > removed[row]
        return not replaced and not owners.doubt(factor.user, added_at)

    return any(comes_first(row, added_at) for row, added_at in factor.before)


def _store(new: Sequence[Factor], owners: Owners) -> None:
    """Insert the apps with their codes. The users are locked, so no set-up can be confirmed
    meanwhile."""
    if not new:
        return
    users = [factor.user for factor in new]
    Authenticator.objects.filter(user__in=users, confirmed=False).delete()
    Authenticator.objects.bulk_create(
        authenticators.unsaved(
            factor.user,
            factor.secret,
            last_step=factor.last_step,
            set_up_at=factor.added_at,
            last_used_at=factor.last_used_at,
        )
        for factor in new
    )
    # Read again, since the digests of codes contain the primary keys, which not all databases
    # return for new rows.
    authenticator_of = {row.user_id: row for row in Authenticator.objects.filter(user__in=users)}
    BackupCode.objects.bulk_create(
        code for factor in new for code in _backup_codes(authenticator_of[factor.user], factor)
    )
    targets = [owners.users[user] for user in users]
    events.record_all_by_staff("auth.2fa.enabled", None, targets, Client(), reason="import")


def _backup_codes(authenticator: Authenticator, factor: Factor) -> list[BackupCode]:
    # This is a function of its own, so that no error report of the INSERT shows the digests.
    usable = [code for code in factor.codes if authenticators.is_importable_backup_code(code)]
    # A package may have stored a code twice, or in two spellings.
    digests = dict.fromkeys(
        authenticators.digest_of_backup_code(authenticator, code) for code in usable
    )
    return [BackupCode(authenticator=authenticator, digest=digest) for digest in digests]


def from_base32(text: Secret) -> Secret:
    """A secret in base32, also in groups with spaces or hyphens, in the form that this module
    stores. Raises `NotImportable`."""
    grouped = text.reveal().replace("-", " ")
    base32 = Secret("".join(grouped.split()).upper().rstrip("="))
    padding = "=" * (-len(base32.reveal()) % 8)
    try:
        return _checked(Secret(base64.b32decode(base32.reveal() + padding).hex()))
    except (binascii.Error, ValueError):
        raise NotImportable(UNREADABLE) from None


def from_hex(text: Secret) -> Secret:
    """A hexadecimal secret, in the form that this module stores. Raises `NotImportable`."""
    return _checked(text)


def check_parameters(*, digits: Any, period: Any) -> None:
    """Raises `NotImportable` unless the codes are those of this module."""
    if (digits, period) != (DIGITS, PERIOD):
        raise NotImportable(PARAMETERS)


def last_step(step: int) -> int:
    """The step of the last used code, so that this code is not accepted again. Raises
    `NotImportable` if the step is so far in the future that every code would be refused for a long
    time."""
    if step > clock.timestamp() // PERIOD + _AHEAD:
        raise NotImportable(FUTURE)
    return max(step, 0)


def step_used_at(moment: datetime | None, *, tolerance: int) -> int:
    """The latest step whose code can have been used at a moment, by a package that accepts the
    codes of `tolerance` steps more."""
    if moment is None:
        return 0
    aware = timezone.make_aware(moment) if timezone.is_naive(moment) else moment
    return int(aware.timestamp()) // PERIOD + tolerance


def _checked(octets: Secret) -> Secret:
    try:
        length = len(bytes.fromhex(octets.reveal()))
    except ValueError:
        raise NotImportable(UNREADABLE) from None
    if not _SHORTEST <= length <= _LONGEST:
        raise NotImportable(SHORT if length < _SHORTEST else LONG)
    return Secret(base64.b32encode(bytes.fromhex(octets.reveal())).decode())
