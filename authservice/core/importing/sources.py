"""The sources of core: verified addresses, and what is left in the tables of each package.

An import reports the rows that it leaves in the tables of a package, why, and what to do about it.
A table is reported if no installed source reads it. So the report also has the rows of a module
that is not installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db.models import QuerySet

from authservice.core.importing import package_tables
from authservice.core.importing.verified_addresses import (
    AddressImport,
    AllauthAddresses,
    DjoserAddresses,
)
from authservice.kernel import clock
from authservice.kernel.imports import (
    MOST_NAMED,
    ImportOptions,
    ImportReport,
    ImportSource,
    Rows,
    sources,
)

_NO_TABLE = "no such table is installed."


def import_sources() -> Iterator[tuple[str, ImportSource]]:
    """The sources of core, which `kernel/imports.py` finds by this name."""
    yield "allauth", AddressImport(AllauthAddresses())
    yield "djoser", AddressImport(DjoserAddresses())
    for package, tables in _TABLES.items():
        yield package, LeftRows(package, tables)


@dataclass(frozen=True)
class Table:
    """A table of a package. `reason` says why its rows are left, and what to do. `only` limits them
    to those that matter, and `user` is the lookup of their user."""

    label: str
    reason: str
    user: str = "user_id"
    only: Callable[[QuerySet[Any]], QuerySet[Any]] = lambda rows: rows


class LeftRows(ImportSource):
    """A source of `authservice_import`: reports the tables of one package, and imports nothing.

    `package` is its name in `authservice_import`.
    """

    data_kind = "left in the tables of the package"
    only_reports = True

    def __init__(self, package: str, tables: Sequence[Table]) -> None:
        self.package, self.tables = package, tables

    def missing(self) -> str:
        return "" if any(package_tables.find(table.label) for table in self.tables) else _NO_TABLE

    def run(self, options: ImportOptions) -> ImportReport:
        report = ImportReport()
        # The tables that the installed sources of this package read.
        installed = [source for name, source in sources() if name == self.package]
        read_labels = {label for source in installed for label in source.reads}
        for table in self.tables:
            model = package_tables.find(table.label)
            if not model or table.label in read_labels:
                continue
            rows = table.only(package_tables.rows(model))
            number = rows.count()
            if not number:
                continue
            report.read += number
            # The primary key may be a digest of a token, as that of knox is: only users are named.
            users = rows.order_by("pk").values_list(table.user, flat=True)[:MOST_NAMED]
            group = report.skipped.setdefault(table.reason, Rows())
            group.number += number
            group.named += [(table.label, user) for user in users]
        return report


def unexpired(field: str) -> Callable[[QuerySet[Any]], QuerySet[Any]]:
    """Rows whose time in `field` has not passed; a row without a time never expires."""

    def only(rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.exclude(**{f"{field}__lte": clock.now()})

    return only


_LINKS = (
    "links of providers: add 'authservice.oauth' to INSTALLED_APPS and run this again, or their"
    " users cannot log in with a provider unless it verifies their address"
)
_FACTORS = (
    "second factors: add 'authservice.twofactor' to INSTALLED_APPS and run this again, or their"
    " users log in without a second factor"
)
_UNSUPPORTED = (
    "second factors of a kind that this service does not have: if the user has no authenticator"
    " app, ask the user to set one up before you remove the package"
)
_OF_ALLAUTH = "the rows of django-allauth: authservice_import allauth imports them"
_OF_SOCIAL = "the rows of social-auth-app-django: authservice_import social_django imports them"
_PROVIDER_TOKENS = (
    "tokens of providers: with OAUTH.STORE_PROVIDER_TOKENS the next login with the provider stores"
    " new ones"
)
_OPAQUE = (
    "tokens without an end, which a session here must have: keep the authentication class of the"
    " package beside AuthserviceAuthentication until the clients have logged in again"
)
_DIGESTS = (
    "only digests of the tokens are stored: keep the authentication class of the package beside"
    " AuthserviceAuthentication until the clients have logged in again or the tokens have expired"
)
_REFRESH = (
    "refresh tokens: clients trade each for a session when they use it next, if"
    " authservice.compat.simplejwt is installed (see its page in the documentation)"
)
_KEYS = "WebAuthn keys: no import reads them, so their users need a password"
_PASSKEYS = (
    "passkeys and security keys: add 'authservice.passkeys' to INSTALLED_APPS and run this again,"
    " or their users log in without them"
)

_DEVICES = (
    Table("otp_totp.TOTPDevice", _FACTORS),
    Table("otp_static.StaticDevice", _FACTORS),
    Table("otp_hotp.HOTPDevice", _UNSUPPORTED),
    Table("otp_email.EmailDevice", _UNSUPPORTED),
    Table("otp_twilio.TwilioSMSDevice", _UNSUPPORTED),
    Table("otp_yubikey.YubikeyDevice", _UNSUPPORTED),
    Table("otp_yubikey.RemoteYubikeyDevice", _UNSUPPORTED),
)
_OUTSTANDING = Table("token_blacklist.OutstandingToken", _REFRESH, only=unexpired("expires_at"))
_TOKENS = Table("authtoken.Token", _OPAQUE)

_TABLES: Mapping[str, tuple[Table, ...]] = {
    "allauth": (
        Table("socialaccount.SocialAccount", _LINKS),
        Table("socialaccount.SocialToken", _PROVIDER_TOKENS, user="account__user_id"),
        Table("mfa.Authenticator", _FACTORS),
    ),
    "dj_rest_auth": (
        Table("account.EmailAddress", _OF_ALLAUTH),
        Table("socialaccount.SocialAccount", _OF_ALLAUTH),
        Table("mfa.Authenticator", _OF_ALLAUTH),
        Table("dj_rest_auth_mfa.Authenticator", _FACTORS),
        _TOKENS,
        _OUTSTANDING,
    ),
    "django_otp": _DEVICES,
    "django_otp_webauthn": (Table("django_otp_webauthn.WebAuthnCredential", _PASSKEYS),),
    "djoser": (
        Table("social_django.UserSocialAuth", _OF_SOCIAL),
        Table("webauthn.CredentialOptions", _KEYS),
        _TOKENS,
        _OUTSTANDING,
    ),
    "knox": (Table("knox.AuthToken", _DIGESTS, only=unexpired("expiry")),),
    "simplejwt": (_OUTSTANDING,),
    "two_factor": (
        *_DEVICES,
        Table("phonenumber.PhoneDevice", _UNSUPPORTED),
        Table("two_factor_webauthn.WebauthnDevice", _UNSUPPORTED),
    ),
}


# Packages that read tables of other apps: those tables do not say whether the package is installed.
_WITHOUT_TABLES = ("dj_rest_auth", "djoser", "two_factor")


def missing_app(package: str) -> str:
    """Why no source of this package can run: its app is missing. "" if it can."""
    if package not in _WITHOUT_TABLES or apps.is_installed(package):
        return ""
    return f"{package!r} is not in INSTALLED_APPS. Keep it installed until the import is done."
