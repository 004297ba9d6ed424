"""The sources of core: addresses that another package has verified, imported in batches, each with
its own commit, and what is left in the tables of each package.

A verified address becomes a proven one, so the first magic link to it removes nothing. Accounts
have one address: further ones of a user are reported and not imported. `AllauthAddresses` and
`DjoserAddresses` read those of the two packages that verify them.

An import reports the rows that it leaves in the tables of a package, why, and what to do about it.
A table is reported if no installed source reads it. So the report also has the rows of a module
that is not installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.apps import apps
from django.conf import settings
from django.db.models import QuerySet

from authservice.core.importing import package_tables
from authservice.core.recovery import earlier_proofs
from authservice.core.recovery.earlier_proofs import (
    MARKED,
    PRESENT,
    SHARED,
    Plan,
    Proof,
    as_stored,
    proof,
)
from authservice.core.users.person import email_of
from authservice.core.users.user_model import host
from authservice.kernel import clock
from authservice.kernel.imports import (
    MOST_NAMED,
    ImportOptions,
    ImportReport,
    ImportSource,
    Rows,
    sources,
)

KIND = "address"


@dataclass(frozen=True)
class Address:
    """A row of the package. `reason` says why it proves nothing; "" if it does."""

    row: Any
    user: Any
    email: str
    reason: str = ""


class AddressRows(Protocol):
    """Reads the addresses of one package, whose name in `ImportedRow` is `source`."""

    source: str
    reads: Sequence[str]
    """Labels of the models that it reads."""

    def missing(self) -> str:
        """As in `ImportSource`."""

    def batches(self, options: ImportOptions) -> Iterator[tuple[list[Address], int]]:
        """Each batch with the number of all rows."""


class AddressImport(ImportSource):
    """A source of `authservice_import`: the verified addresses of one package."""

    data_kind = "verified addresses"

    def __init__(self, package: AddressRows) -> None:
        self.package = package
        self.reads = package.reads

    def missing(self) -> str:
        return self.package.missing()

    def run(self, options: ImportOptions) -> ImportReport:
        run = _Run(self.package.source, options)
        for addresses in options.each(self.package.batches(options)):
            run.add(addresses)
        run.settle()
        return run.report


@dataclass
class _Run:
    """One run: its report, and the addresses of all batches that several users share."""

    source: str
    options: ImportOptions
    report: ImportReport = field(default_factory=ImportReport)
    shared: dict[Proof, Address] = field(default_factory=dict)

    def add(self, addresses: list[Address]) -> None:
        seen = package_tables.seen(self.source, KIND, [address.row for address in addresses])
        new = [address for address in addresses if not address.reason and address.row not in seen]
        proofs = list(dict.fromkeys(_proof(address) for address in new))
        results = earlier_proofs.mark(proofs, self._plan) if proofs else {}
        self.report.read += len(addresses)
        for address in addresses:
            # A row without a result was imported by an earlier run.
            result = address.reason or results.get(_proof(address), PRESENT)
            if result == MARKED:
                self.report.imported += 1
            elif result == PRESENT:
                self.report.present += 1
            elif result == SHARED:
                self.shared[_proof(address)] = address
            else:
                self.report.skip(result, address.row, address.user)
        done = (MARKED, PRESENT)
        self._remember([address.row for address in new if results[_proof(address)] in done])

    def settle(self) -> None:
        """Assign the shared addresses once the rows of all batches are known: only all of them show
        which user has verified one."""
        settled = earlier_proofs.settle(self.shared, self._plan)
        for key, address in self.shared.items():
            if key in settled:
                self.report.imported += 1
            else:
                self.report.conflict(SHARED, address.row, address.user)
        self._remember([self.shared[key].row for key in settled])

    @property
    def _plan(self) -> Plan | None:
        return as_stored if self.options.dry_run else None

    def _remember(self, rows: list[Any]) -> None:
        if rows and not self.options.dry_run:
            package_tables.remember(self.source, KIND, rows)


def _proof(address: Address) -> Proof:
    return proof(address.user, address.email)


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
    an active user is verified. That is not so if the address is the `USERNAME_FIELD`: the route
    `set_email` changes it, and the user stays active. An attacker could have taken the address of
    another person there."""

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
        installed_at = earlier_proofs.installed_at()
        rows = package_tables.rows(host().model)
        for users, total in package_tables.batches(rows, options, added_field=host().joined):
            yield [self._address(user, installed_at) for user in users], total

    def _address(self, user: Any, installed_at: Any) -> Address:
        joined = getattr(user, host().joined)
        reason = "" if getattr(user, host().active) else INACTIVE
        if installed_at is None or joined >= installed_at:
            reason = LATER
        return Address(user.pk, user.pk, email_of(user), reason)


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
