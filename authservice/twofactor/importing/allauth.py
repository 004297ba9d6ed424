"""Factors of django-allauth: the model `Authenticator` of `allauth.mfa`.

Secrets and seeds are decrypted by the adapter of the project (`MFA_ADAPTER`). The settings
`MFA_TOTP_DIGITS` and `MFA_TOTP_PERIOD` apply to all apps. A used code is kept in Django's cache
only, so the time of the last use is read instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

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


class AllauthFactors:
    source = "allauth.mfa"
    reads: Sequence[str] = ("mfa.Authenticator",)

    def missing(self) -> str:
        if package_tables.find(*self.reads):
            return ""
        return "'allauth.mfa' is not in INSTALLED_APPS."

    def batches(self, options: ImportOptions) -> Iterator[tuple[list[Factor], int]]:
        rows = package_tables.rows(package_tables.find(*self.reads))
        found = rows.exclude(type=_CODES)
        for batch, total in package_tables.batches(found, options, added_field="created_at"):
            users = {row.user_id for row in batch}
            codes = {row.user_id: row for row in rows.filter(type=_CODES, user__in=users)}
            yield [_factor(row, codes.get(row.user_id)) for row in batch], total

    def left(self) -> Iterator[tuple[str, Any, Any]]:
        return iter(())


def _factor(row: Any, codes: Any) -> Factor:
    if row.type != _TOTP:
        return Factor(row.pk, row.user_id, reason=KEY)
    tolerance = int(getattr(settings, "MFA_TOTP_TOLERANCE", 0))
    try:
        seeds.check_parameters(
            digits=getattr(settings, "MFA_TOTP_DIGITS", seeds.DIGITS),
            period=getattr(settings, "MFA_TOTP_PERIOD", seeds.PERIOD),
        )
        used = seeds.step_used_at(row.last_used_at, tolerance=tolerance)
        return Factor(
            row.pk,
            row.user_id,
            secret=seeds.from_base32(_decrypted(row)),
            codes=_unused(codes) if codes else (),
            last_step=seeds.last_step(used),
            added_at=row.created_at,
            last_used_at=row.last_used_at,
        )
    except NotImportable as wrong:
        return Factor(row.pk, row.user_id, reason=str(wrong))


def _decrypted(row: Any) -> Secret:
    adapter = import_string("allauth.mfa.adapter.get_adapter")()
    try:
        return Secret("" + adapter.decrypt(row.data["secret"]))
    except Exception:
        # The adapter of the project may raise any exception for a wrong key or text, and may return
        # something else than a text.
        raise NotImportable(seeds.UNREADABLE) from None


def _unused(row: Any) -> list[Secret]:
    codes = import_string("allauth.mfa.recovery_codes.internal.auth.RecoveryCodes")
    try:
        return [Secret(str(code)) for code in codes(row).get_unused_codes()]
    except Exception:
        # Any exception, as above. The app is imported without its codes, and the report counts one
        # code that was left.
        return [Secret("")]
