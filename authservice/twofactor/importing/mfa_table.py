"""Factors in a model `Authenticator` as `allauth.mfa` has it: one row of a user holds the app, and
another one the recovery codes. dj-rest-auth has a copy of that model.

A used code is kept in Django's cache only, so the time of the last use is read instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from authservice.core.importing import package_tables
from authservice.kernel.imports import ImportOptions
from authservice.kernel.secret import Secret
from authservice.twofactor.importing import seeds
from authservice.twofactor.importing.factors import Factor
from authservice.twofactor.importing.seeds import NotImportable

_TOTP, _CODES = "totp", "recovery_codes"
KEY = (
    "security keys have no counterpart here: a user without an authenticator app logs in without a"
    " second factor"
)


class MfaTable(ABC):
    """Reads the model of one package. `source` is the name of the app in INSTALLED_APPS."""

    source: str
    reads: Sequence[str]

    @abstractmethod
    def parameters(self) -> tuple[Any, Any, int]:
        """Digits, period in seconds, and how many steps to either side the package accepts."""

    @abstractmethod
    def secret(self, row: Any) -> Secret:
        """The seed in base32. Raises any exception if it cannot be read."""

    @abstractmethod
    def unused(self, row: Any) -> list[Secret]:
        """The unused codes. Raises any exception if they cannot be read."""

    def missing(self) -> str:
        if package_tables.find(*self.reads):
            return ""
        return f"{self.source!r} is not in INSTALLED_APPS."

    def batches(self, options: ImportOptions) -> Iterator[tuple[list[Factor], int]]:
        rows = package_tables.rows(package_tables.find(*self.reads))
        found = rows.exclude(type=_CODES)
        for batch, total in package_tables.batches(found, options, added_field="created_at"):
            users = {row.user_id for row in batch}
            codes = {row.user_id: row for row in rows.filter(type=_CODES, user__in=users)}
            yield [self._factor(row, codes.get(row.user_id)) for row in batch], total

    def left(self) -> Iterator[tuple[str, Any, Any]]:
        return iter(())

    def _factor(self, row: Any, codes: Any) -> Factor:
        if row.type != _TOTP:
            return Factor(row.pk, row.user_id, reason=KEY)
        digits, period, tolerance = self.parameters()
        try:
            seeds.check_parameters(digits=digits, period=period)
            used = seeds.step_used_at(row.last_used_at, tolerance=tolerance)
            return Factor(
                row.pk,
                row.user_id,
                secret=seeds.from_base32(self._readable(row)),
                codes=self._codes(codes) if codes else (),
                codes_added_at=codes.created_at if codes else None,
                last_step=seeds.last_step(used),
                added_at=row.created_at,
                last_used_at=row.last_used_at,
            )
        except NotImportable as wrong:
            return Factor(row.pk, row.user_id, reason=str(wrong))

    def _readable(self, row: Any) -> Secret:
        try:
            return self.secret(row)
        except Exception:
            # A package or its adapter may raise any exception for a wrong key, signature or text.
            raise NotImportable(seeds.UNREADABLE) from None

    def _codes(self, row: Any) -> list[Secret]:
        try:
            return self.unused(row)
        except Exception:
            # Any exception, as above. The app is imported without its codes, and the report counts
            # one code that was left.
            return [Secret("")]
