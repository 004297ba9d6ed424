"""Factors of dj-rest-auth: the model `Authenticator` of `dj_rest_auth.mfa`, since version 7.1.

Projects that use `allauth.mfa` with dj-rest-auth have their factors there.
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
_TOLERANCE = 1  # the package accepts the codes of one step to either side


class DjRestAuthFactors:
    source = "dj_rest_auth.mfa"
    reads: Sequence[str] = ("dj_rest_auth_mfa.Authenticator",)

    def missing(self) -> str:
        if package_tables.find(*self.reads):
            return ""
        return "'dj_rest_auth.mfa' is not in INSTALLED_APPS."

    def batches(self, options: ImportOptions) -> Iterator[tuple[list[Factor], int]]:
        rows = package_tables.rows(package_tables.find(*self.reads))
        found = rows.filter(type=_TOTP)
        for batch, total in package_tables.batches(found, options, added_field="created_at"):
            users = {row.user_id for row in batch}
            codes = {row.user_id: row for row in rows.filter(type=_CODES, user__in=users)}
            yield [_factor(row, codes.get(row.user_id)) for row in batch], total

    def left(self) -> Iterator[tuple[str, Any, Any]]:
        return iter(())


def _factor(row: Any, codes: Any) -> Factor:
    given = getattr(settings, "REST_AUTH", {})
    try:
        seeds.check_parameters(
            digits=given.get("MFA_TOTP_DIGITS", seeds.DIGITS),
            period=given.get("MFA_TOTP_PERIOD", seeds.PERIOD),
        )
        used = seeds.step_used_at(row.last_used_at, tolerance=_TOLERANCE)
        return Factor(
            row.pk,
            row.user_id,
            secret=seeds.from_base32(_unsigned(row)),
            codes=_unused(codes) if codes else (),
            last_step=seeds.last_step(used),
            added_at=row.created_at,
            last_used_at=row.last_used_at,
        )
    except NotImportable as wrong:
        return Factor(row.pk, row.user_id, reason=str(wrong))


def _unsigned(row: Any) -> Secret:
    signer = import_string("dj_rest_auth.mfa.totp._signer")
    try:
        return Secret(signer.unsign(row.data["secret"]))
    except Exception:
        # A wrong signature, or data of another form.
        raise NotImportable(seeds.UNREADABLE) from None


def _unused(row: Any) -> list[Secret]:
    made = import_string("dj_rest_auth.mfa.recovery_codes.RecoveryCodes")
    count = getattr(settings, "REST_AUTH", {}).get("MFA_RECOVERY_CODE_COUNT", 10)
    try:
        codes = [Secret(code) for code in made._generate_codes(row.data["seed"], count)]
        used = int(row.data.get("used_mask", 0))
    except Exception:
        return [Secret("")]  # counted in the report
    return [code for place, code in enumerate(codes) if not used >> place & 1]
