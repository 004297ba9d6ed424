"""The packages whose verified addresses can be imported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings

from authservice.core.importing import package_tables
from authservice.core.importing.verified_addresses import Address
from authservice.core.recovery import chosen_proofs
from authservice.core.users.person import email_of
from authservice.core.users.user_model import host
from authservice.kernel.imports import ImportOptions

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
    an active user is verified. Not if it is the `USERNAME_FIELD`: the route `set_email` changes it,
    and the user stays active. An attacker could have taken the address of another person there."""

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
