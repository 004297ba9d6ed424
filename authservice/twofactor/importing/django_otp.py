"""Factors of django-otp: `TOTPDevice` and `StaticToken`, which django-two-factor-auth uses too.

A user may have any number of devices there. Of the apps that can be imported, that whose code was
used last is. Steps of `last_t` are those of this module: RFC 6238 with the drift of the device
added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet

from authservice.core.importing import package_tables
from authservice.kernel.imports import ImportOptions
from authservice.kernel.secret import Secret
from authservice.twofactor.importing import seeds
from authservice.twofactor.importing.factors import SECOND, Factor
from authservice.twofactor.importing.seeds import NotImportable

UNCONFIRMED = "it was never confirmed with a code"
DRIFT = (
    "its clock deviates by more than 30 seconds, so no code of it would be accepted here: the user"
    " has to set it up again"
)
NO_APP = "backup codes of a user without an authenticator app"
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
        added = "created_at" if hasattr(model, "created_at") else ""
        for batch, total in package_tables.batches(_apps(), options, added_field=added):
            users = {row.user_id for row in batch}
            codes, chosen = _codes(users), _chosen(users)
            yield [_factor(row, codes.get(row.user_id, ()), chosen) for row in batch], total

    def left(self) -> Iterator[tuple[str, Any, Any]]:
        model = package_tables.find(_DEVICES)
        if not model:
            return
        apps = _apps().filter(user=OuterRef("user"), confirmed=True)
        rows = package_tables.rows(model).filter(~Exists(apps), token_set__isnull=False)
        for row, user in rows.order_by("pk").values_list("pk", "user_id").distinct():
            yield NO_APP, row, user


def _apps() -> QuerySet[Any]:
    return package_tables.rows(package_tables.find(_APPS))


def _chosen(users: set[Any]) -> dict[Any, Any]:
    """The key of the app of each of these users that was used last; of those never used, the first.

    An app that cannot be imported does not count: it must not displace one that can, or the user
    would be left without a second factor.
    """
    found: dict[Any, Any] = {}
    for row in _apps().filter(user__in=users).order_by("pk"):
        later = row.user_id not in found or row.last_t > found[row.user_id].last_t
        if later and _is_importable(row):
            found[row.user_id] = row
    return {user: row.pk for user, row in found.items()}


def _is_importable(row: Any) -> bool:
    try:
        _secret(row)
        seeds.last_step(row.last_t)
    except NotImportable:
        return False
    return True


def _codes(users: set[Any]) -> dict[Any, list[Secret]]:
    """The codes of these users: the package deletes a code when it is used."""
    model, codes = package_tables.find(_TOKENS), {}  # type: ignore[var-annotated]
    if model:
        rows = package_tables.rows(model).filter(device__user__in=users, device__confirmed=True)
        for user, token in rows.values_list(F("device__user_id"), "token"):
            codes.setdefault(user, []).append(Secret(token))
    return codes


def _factor(row: Any, codes: Sequence[Secret], chosen: Mapping[Any, Any]) -> Factor:
    try:
        secret, last_step = _secret(row), seeds.last_step(row.last_t)
    except NotImportable as wrong:
        return Factor(row.pk, row.user_id, reason=str(wrong))
    if chosen.get(row.user_id) != row.pk:
        return Factor(row.pk, row.user_id, reason=SECOND)
    return Factor(
        row.pk,
        row.user_id,
        secret=secret,
        codes=codes,
        last_step=last_step,
        added_at=getattr(row, "created_at", None),
        last_used_at=getattr(row, "last_used_at", None),
    )


def _secret(row: Any) -> Secret:
    if not row.confirmed:
        raise NotImportable(UNCONFIRMED)
    if row.t0:
        raise NotImportable(seeds.PARAMETERS)
    seeds.check_parameters(digits=row.digits, period=row.step)
    if abs(row.drift) > _DRIFT:
        raise NotImportable(DRIFT)
    return seeds.from_hex(Secret(row.key))
