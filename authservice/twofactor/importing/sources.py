"""The sources of `authservice_import` in this module. The models of the packages are found in
Django's registry, so that no package needs to be installed.

Factors of django-otp are `TOTPDevice` and `StaticToken`, which django-two-factor-auth uses too. A
user may have any number of devices there. Of the apps that may be imported, only the one whose
code was used last is imported. `last_t` counts time steps as this module does: those of RFC 6238,
with the drift of the device added.

Factors in a model `Authenticator` as `allauth.mfa` has it: one row of a user holds the app, and
another row holds the recovery codes.

allauth remembers a used code only in Django's cache, and dj-rest-auth only the last one, without
its time step. So the time of the last use is read instead.

dj-rest-auth has a copy of that model in `dj_rest_auth.mfa`, since version 7.2; projects that use
`allauth.mfa` with dj-rest-auth have their factors there. Secrets and seeds of allauth are decrypted
by the adapter of the project (`MFA_ADAPTER`). Its settings `MFA_TOTP_DIGITS` and `MFA_TOTP_PERIOD`
apply to all apps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.module_loading import import_string

from authservice.core.importing import package_tables
from authservice.kernel.imports import ImportOptions, ImportSource
from authservice.kernel.secret import Secret
from authservice.twofactor.importing import factors
from authservice.twofactor.importing.factors import Factor, FactorImport, NotImportable

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


_TOTP, _CODES, _WEBAUTHN = "totp", "recovery_codes", "webauthn"
KEYS_NOT_IMPORTED = (
    "passkeys and security keys: add 'authservice.passkeys' to INSTALLED_APPS and run this again,"
    " or a user without an authenticator app logs in without a second factor"
)
_TOLERANCE = 1  # dj-rest-auth accepts the codes of one step to either side


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
        # A row of codes is read with the app of its user. Keys are imported by the passkeys module,
        # if it is installed; otherwise `_factor` reports that they were not imported.
        has_keys = apps.is_installed("authservice.passkeys")
        other_types = (_CODES, _WEBAUTHN) if has_keys else (_CODES,)
        factor_rows = rows.exclude(type__in=other_types)
        for batch, total in package_tables.batches(factor_rows, options, added_field="created_at"):
            users = {row.user_id for row in batch}
            codes = {row.user_id: row for row in rows.filter(type=_CODES, user__in=users)}
            yield [self._factor(row, codes.get(row.user_id)) for row in batch], total

    def skipped_rows(self) -> Iterator[tuple[str, Any, Any]]:
        rows = package_tables.rows(package_tables.find(*self.reads))
        app = rows.filter(user=OuterRef("user"), type=_TOTP)
        codes = rows.filter(~Exists(app), type=_CODES).order_by("pk")
        for row, user in codes.values_list("pk", "user_id"):
            yield factors.NO_APP, row, user

    def _factor(self, row: Any, codes: Any) -> Factor:
        if row.type != _TOTP:
            return Factor(row.pk, row.user_id, reason=KEYS_NOT_IMPORTED)
        digits, period, tolerance = self.parameters()
        try:
            factors.check_parameters(digits=digits, period=period)
            used_step = factors.step_used_at(row.last_used_at, tolerance=tolerance)
            return Factor(
                row.pk,
                row.user_id,
                secret=factors.from_base32(self._readable(row)),
                codes=self._codes(codes) if codes else (),
                codes_added_at=codes.created_at if codes else None,
                last_step=factors.last_step(used_step),
                added_at=row.created_at,
                last_used_at=row.last_used_at,
            )
        except NotImportable as error:
            return Factor(row.pk, row.user_id, reason=str(error))

    def _readable(self, row: Any) -> Secret:
        try:
            return self.secret(row)
        except Exception:
            # A package or its adapter may raise any exception for a wrong key, signature or text.
            raise NotImportable(factors.UNREADABLE) from None

    def _codes(self, row: Any) -> list[Secret]:
        try:
            return self.unused(row)
        except Exception:
            # Any exception, as in `_readable`. The app is imported without its codes. The empty
            # code is not importable, so the report counts one code that was left.
            return [Secret("")]


class DjRestAuthFactors(MfaTable):
    source = "dj_rest_auth.mfa"
    reads: Sequence[str] = ("dj_rest_auth_mfa.Authenticator",)

    def parameters(self) -> tuple[Any, Any, int]:
        return (
            _rest_auth_setting("MFA_TOTP_DIGITS", factors.DIGITS),
            _rest_auth_setting("MFA_TOTP_PERIOD", factors.PERIOD),
            _TOLERANCE,
        )

    def secret(self, row: Any) -> Secret:
        signer = import_string("dj_rest_auth.mfa.totp._signer")
        return Secret(signer.unsign(row.data["secret"]))

    def unused(self, row: Any) -> list[Secret]:
        codes_class = import_string("dj_rest_auth.mfa.recovery_codes.RecoveryCodes")
        count = _rest_auth_setting("MFA_RECOVERY_CODE_COUNT", 10)
        codes = [Secret(code) for code in codes_class._generate_codes(row.data["seed"], count)]
        used_mask = int(row.data.get("used_mask", 0))
        return [code for index, code in enumerate(codes) if not used_mask >> index & 1]


def _rest_auth_setting(name: str, default: int) -> Any:
    return getattr(settings, "REST_AUTH", {}).get(name, default)


class AllauthFactors(MfaTable):
    source = "allauth.mfa"
    reads: Sequence[str] = ("mfa.Authenticator",)

    def parameters(self) -> tuple[Any, Any, int]:
        return (
            getattr(settings, "MFA_TOTP_DIGITS", factors.DIGITS),
            getattr(settings, "MFA_TOTP_PERIOD", factors.PERIOD),
            int(getattr(settings, "MFA_TOTP_TOLERANCE", 0)),
        )

    def secret(self, row: Any) -> Secret:
        adapter = import_string("allauth.mfa.adapter.get_adapter")()
        # The adapter of a project may return something else than a text: then this line fails, and
        # the secret counts as unreadable.
        return Secret("" + adapter.decrypt(row.data["secret"]))

    def unused(self, row: Any) -> list[Secret]:
        codes_class = import_string("allauth.mfa.recovery_codes.internal.auth.RecoveryCodes")
        return [Secret(str(code)) for code in codes_class(row).get_unused_codes()]


def import_sources() -> Iterator[tuple[str, ImportSource]]:
    """Each source with the name of its package; `kernel/imports.py` finds this function by name."""
    yield "allauth", FactorImport(AllauthFactors())
    yield "dj_rest_auth", FactorImport(DjRestAuthFactors())
    yield "django_otp", FactorImport(DjangoOtpFactors())
    # django-two-factor-auth stores apps and backup codes in the tables of django-otp.
    yield "two_factor", FactorImport(DjangoOtpFactors())
