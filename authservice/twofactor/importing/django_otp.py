"""Factors of django-otp: `TOTPDevice` and `StaticToken`, which django-two-factor-auth uses too.

A user may have any number of devices there. Of the apps that may be imported, only the one whose
code was used last is imported. `last_t` counts time steps as this module does: those of RFC 6238,
with the drift of the device added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from authservice.core.importing import package_tables
from authservice.kernel.imports import ImportOptions
from authservice.kernel.secret import Secret
from authservice.twofactor.importing import factors
from authservice.twofactor.importing.factors import Factor, NotImportable

UNCONFIRMED = "it was never confirmed with a code"
DRIFT = (
    "its clock deviates by more than 30 seconds, so no code of it would be accepted here: the user"
    " has to set it up again"
)
_DRIFT = 1  # steps to either side, the window of this module
_APPS, _DEVICES, _TOKENS = (
    "otp_totp.TOTPDevice",
    "otp_static.StaticDevice",
    "otp_static.StaticToken",
)


class DjangoOtpFactors:
    source = "django_otp"
    reads: Sequence[str] = (_APPS, _DEVICES)

    def missing(self) -> str:
        if package_tables.find(_APPS):
            return ""
        return "'django_otp.plugins.otp_totp' is not in INSTALLED_APPS."

    def batches(self, options: ImportOptions) -> Iterator[tuple[list[Factor], int]]:
        # Earlier versions of the package store no times.
        model = package_tables.find(_APPS)
        added_field = "created_at" if hasattr(model, "created_at") else ""
        for batch, total in package_tables.batches(_apps(), options, added_field=added_field):
            users = {row.user_id for row in batch}
            codes, apps = _codes(users), _by_use(users)
            yield (
                [
                    _factor(row, codes.get(row.user_id, _NO_CODES), apps.get(row.user_id, ()))
                    for row in batch
                ],
                total,
            )

    def skipped_rows(self) -> Iterator[tuple[str, Any, Any]]:
        model = package_tables.find(_DEVICES)
        if not model:
            return
        apps = _apps().filter(user=OuterRef("user"), confirmed=True)
        rows = package_tables.rows(model).filter(~Exists(apps), token_set__isnull=False)
        for row, user in rows.order_by("pk").values_list("pk", "user_id").distinct():
            yield factors.NO_APP, row, user


def _apps() -> QuerySet[Any]:
    return package_tables.rows(package_tables.find(_APPS))


def _by_use(users: set[Any]) -> dict[Any, list[Any]]:
    """The apps of each of these users: those that were used last come first; of apps with the same
    last step, the older comes first.

    An app that cannot be imported does not count: it must not displace one that can, or the user
    would be left without a second factor.
    """
    apps: dict[Any, list[Any]] = {}
    for row in _apps().filter(user__in=users).order_by("-last_t", "pk"):
        try:
            _secret(row)
            factors.last_step(row.last_t)
        except NotImportable:
            continue
        apps.setdefault(row.user_id, []).append(row)
    return apps


class _Codes(NamedTuple):
    codes: list[Secret]
    # When the first device that holds these codes was added.
    added_at: datetime | None


_NO_CODES = _Codes([], None)


def _codes(users: set[Any]) -> dict[Any, _Codes]:
    """The codes of these users: the package deletes a code when it is used."""
    model = package_tables.find(_TOKENS)
    tokens_by_user = {}  # type: ignore[var-annotated]
    if model:
        rows = package_tables.rows(model).filter(device__user__in=users, device__confirmed=True)
        for row in rows.select_related("device"):
            tokens_by_user.setdefault(row.device.user_id, []).append(row)
    codes = {}
    for user, tokens in tokens_by_user.items():
        times = [added_at for row in tokens if (added_at := _added_at(row.device))]
        codes[user] = _Codes([Secret(row.token) for row in tokens], min(times, default=None))
    return codes


def _factor(row: Any, codes: _Codes, apps: Sequence[Any]) -> Factor:
    try:
        secret, last_step = _secret(row), factors.last_step(row.last_t)
    except NotImportable as error:
        return Factor(row.pk, row.user_id, reason=str(error))
    earlier_apps = takewhile(lambda other: other.pk != row.pk, apps)
    return Factor(
        row.pk,
        row.user_id,
        secret=secret,
        codes=codes.codes,
        codes_added_at=codes.added_at,
        last_step=last_step,
        added_at=_added_at(row),
        last_used_at=getattr(row, "last_used_at", None),
        before=[(other.pk, _added_at(other)) for other in earlier_apps],
    )


def _added_at(row: Any) -> datetime | None:
    return getattr(row, "created_at", None)


def _secret(row: Any) -> Secret:
    """The secret of an app. Raises `NotImportable`, also if no code of the app would be accepted
    here."""
    if not row.confirmed:
        raise NotImportable(UNCONFIRMED)
    if row.t0:
        raise NotImportable(factors.PARAMETERS)
    factors.check_parameters(digits=row.digits, period=row.step)
    if abs(row.drift) > _DRIFT:
        raise NotImportable(DRIFT)
    return factors.from_hex(Secret(row.key))
