"""Imports passkeys and security keys of other packages, in batches, each with its own commit.

The same key works here as in the other package: its public key is stored, and so is the user handle
that the authenticators know. Browsers bind keys to a domain, so only those of `PASSKEYS.RP_ID` are
imported. A key that was a second factor in the other package is one here. It logs in alone only if
it is discoverable and verified its user when it was added: somebody who finds a security key
without a PIN could set one. No session ends and no notice is sent, because the user gets no new
access.

The models of the packages are found in Django's registry, so that no package needs to be installed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from authservice.core.importing import package_tables
from authservice.core.importing.package_tables import Owners
from authservice.kernel import clock, databases, events, secret
from authservice.kernel.client import Client
from authservice.kernel.imports import REFUSED, ImportOptions, ImportReport, ImportSource
from authservice.passkeys import keys, relying_party
from authservice.passkeys.models import NAME_LENGTH, Handle, Passkey
from authservice.passkeys.own_passkeys import DEFAULT_NAME
from authservice.passkeys.relying_party import NewPasskey, OfOtherDomain, Unverified

KIND = "passkey"  # in the rows of `ImportedRow`
# Reasons why a key is not imported, for the report.
DOMAIN = (
    "it is bound to another domain than PASSKEYS.RP_ID, so browsers never offer it here: set RP_ID"
    " to the domain of the package before users add passkeys"
)
UNREADABLE = "its stored registration cannot be read"
UNCONFIRMED = "it was never confirmed"
BARE = (
    "it has not verified its user, so it can only be a second factor: add 'authservice.twofactor'"
    " to INSTALLED_APPS and run this again"
)
HANDLE = (
    "the authenticator knows the user by another handle than the passkeys that the user has here"
)
KEY_CONFLICT = "another account has this key"
MANY = f"the user has {keys.LIMIT} passkeys"
_HANDLE_LENGTH = 64  # bytes, the most that WebAuthn allows


def import_sources() -> Iterator[tuple[str, ImportSource]]:
    """Each source with the name of its package; `kernel/imports.py` finds this function by name."""
    yield "allauth", PasskeyImport(AllauthKeys())
    yield "django_otp_webauthn", PasskeyImport(OtpWebauthnKeys())


class PasskeyImport(ImportSource):
    """A source of `authservice_import`: the passkeys and security keys of one package."""

    data_kind = "passkeys and security keys"

    def __init__(self, package: KeyRows) -> None:
        self.package = package

    @property
    def reads(self) -> Sequence[str]:  # type: ignore[override]
        return self.package.reads

    def missing(self) -> str:
        if not relying_party.domain():
            return "PASSKEYS.RP_ID names no domain."
        return self.package.missing()

    def run(self, options: ImportOptions) -> ImportReport:
        run = _Run(self.package.source, options)
        for batch in options.each(self.package.batches(options)):
            run.add(batch)
        return run.report


@dataclass(frozen=True)
class Key:
    """A key in the package. `reason` says why it cannot be imported; "" if it can. `handle` is the
    user handle that its authenticator stores, in base64url."""

    row: Any
    user: Any
    reason: str = ""
    new: NewPasskey | None = None
    handle: str = ""
    name: str = ""
    counter: int = 0
    discoverable: bool = False
    added_at: datetime | None = None
    last_used_at: datetime | None = None

    @property
    def digest(self) -> str:
        return keys.digest_of(self.new.credential_id) if self.new else ""


class KeyRows(ABC):
    """Reads the keys of one package, whose name in `ImportedRow` is `source`."""

    source: str
    reads: Sequence[str] = ()

    @abstractmethod
    def missing(self) -> str:
        """As in `ImportSource`."""

    @abstractmethod
    def batches(self, options: ImportOptions) -> Iterator[tuple[list[Key], int]]:
        """Each batch with the number of all rows."""


class AllauthKeys(KeyRows):
    """Keys of `allauth.mfa`, whose rows hold the whole answer of the browser at the registration.
    The package does not store the counter of later answers. `reads` is empty: the table also holds
    authenticator apps, and the source that imports those apps names the table."""

    source = "allauth.mfa"

    def missing(self) -> str:
        return "" if package_tables.find("mfa.Authenticator") else _missing(self.source)

    def batches(self, options: ImportOptions) -> Iterator[tuple[list[Key], int]]:
        rows = package_tables.rows(package_tables.find("mfa.Authenticator"))
        key_rows = rows.filter(type="webauthn").select_related("user")
        for batch, total in package_tables.batches(key_rows, options, added_field="created_at"):
            yield [self._key(row) for row in batch], total

    def _key(self, row: Any) -> Key:
        try:
            answer = row.data["credential"]
            raw = secret.unb64(answer["response"]["attestationObject"])
            new = relying_party.stored_registration(raw, answer["response"].get("transports"))
            extensions = answer.get("clientExtensionResults") or {}
            discoverable = (extensions.get("credProps") or {}).get("rk") is True
            # The package stores no handle: its adapter derives it from the user.
            adapter = import_string("allauth.mfa.adapter.get_adapter")()
            handle = secret.b64(adapter.get_public_key_credential_user_entity(row.user)["id"])
            name = row.data.get("name")
        except OfOtherDomain:
            return Key(row.pk, row.user_id, DOMAIN)
        except Exception:
            # The adapter of the project may raise any exception, and the JSON may have any form.
            return Key(row.pk, row.user_id, UNREADABLE)
        return Key(
            row.pk,
            row.user_id,
            new=new,
            handle=handle,
            name=_name(name),
            counter=new.counter,
            discoverable=discoverable,
            added_at=row.created_at,
            last_used_at=row.last_used_at,
        )


class OtpWebauthnKeys(KeyRows):
    """Keys of django-otp-webauthn. Its models may be the project's own. The registration of a key
    is a row of another model."""

    source = "django_otp_webauthn"

    @property
    def reads(self) -> Sequence[str]:  # type: ignore[override]
        return (_model_of("CREDENTIAL", "WebAuthnCredential"),)

    def missing(self) -> str:
        return "" if package_tables.find(self.reads[0]) else _missing(self.source)

    def batches(self, options: ImportOptions) -> Iterator[tuple[list[Key], int]]:
        key_rows = package_tables.rows(package_tables.find(self.reads[0]))
        attestation_model = package_tables.find(_model_of("ATTESTATION", "WebAuthnAttestation"))
        handle_model = package_tables.find("django_otp_webauthn.WebAuthnUserHandle")
        for batch, total in package_tables.batches(key_rows, options, added_field="created_at"):
            attestations = package_tables.rows(attestation_model).filter(credential__in=batch)
            statements = dict(attestations.values_list("credential_id", "data"))
            handle_rows = package_tables.rows(handle_model).filter(
                user__in={row.user_id for row in batch}
            )
            handles = dict(handle_rows.values_list("user_id", "handle_hex"))
            yield [self._key(row, statements, handles) for row in batch], total

    def _key(self, row: Any, statements: Mapping[Any, Any], handles: Mapping[Any, str]) -> Key:
        if not row.confirmed:
            return Key(row.pk, row.user_id, UNCONFIRMED)
        try:
            statement = bytes(statements[row.pk])
            new = relying_party.stored_registration(statement, row.transports)
            handle = secret.b64(bytes.fromhex(handles[row.user_id]))
        except OfOtherDomain:
            return Key(row.pk, row.user_id, DOMAIN)
        except (KeyError, ValueError, Unverified):
            return Key(row.pk, row.user_id, UNREADABLE)
        return Key(
            row.pk,
            row.user_id,
            new=new,
            handle=handle,
            name=_name(row.name),
            counter=max(row.sign_count, new.counter),
            discoverable=row.discoverable is True,
            added_at=row.created_at,
            last_used_at=row.last_used_at,
        )


def _missing(app: str) -> str:
    return f"{app!r} is not in INSTALLED_APPS."


def _model_of(kind: str, default: str) -> str:
    label = getattr(settings, f"OTP_WEBAUTHN_{kind}_MODEL", "")
    return str(label or f"django_otp_webauthn.{default}")


def _name(raw: Any) -> str:
    text = "".join(char for char in raw if char.isprintable()) if isinstance(raw, str) else ""
    return text.strip()[:NAME_LENGTH] or str(DEFAULT_NAME)


@dataclass
class _Run:
    source: str
    options: ImportOptions
    report: ImportReport = field(default_factory=ImportReport)
    # A dry run stores no rows, so these keep what earlier batches would have stored: users by the
    # digests of their keys, and handles by users.
    stored: dict[str, Any] = field(default_factory=dict)
    handles: dict[Any, str] = field(default_factory=dict)

    def add(self, batch: list[Key]) -> None:
        results: dict[Any, str] = {}
        for part_results in databases.write_or_split(
            self._import, batch, lambda key: {key.row: REFUSED}
        ):
            results |= part_results
        for key in batch:
            self.report.read += 1
            result = results[key.row]
            if result == KIND:
                self.report.imported += 1
            elif not result:
                self.report.present += 1
            elif result == KEY_CONFLICT:
                self.report.conflict(result, key.row, key.user)
            else:
                self.report.skip(result, key.row, key.user)

    def _import(self, batch: Sequence[Key]) -> dict[Any, str]:
        """The result for each row: `KIND` if it was imported, "" if the user has the key already,
        otherwise the reason why it was not imported."""
        with transaction.atomic(using=databases.primary()):
            imported_before = package_tables.seen(self.source, KIND, [key.row for key in batch])
            write = not self.options.dry_run
            owners = Owners.of({key.user for key in batch}, lock=write)
            results: dict[Any, str] = {}
            digests = {key.digest for key in batch if key.new}
            stored_rows = Passkey.objects.filter(credential_digest__in=digests)
            stored = {
                **self.stored,
                **dict(stored_rows.values_list("credential_digest", "user_id")),
            }
            rows_of_owners = Passkey.objects.filter(user__in=owners.users)
            key_counts = Counter(rows_of_owners.values_list("user_id", flat=True))
            handles = {**self.handles, **_handles(owners)}
            for key in batch:
                result = _result(key, owners, stored, key_counts[key.user], handles.get(key.user))
                if result == KIND and key.row in imported_before:
                    # It was removed here since: it must not come back.
                    result = package_tables.REMOVED
                if result == KIND:
                    stored[key.digest] = key.user
                    key_counts[key.user] += 1
                    handles[key.user] = key.handle
                results[key.row] = result
            if write:
                _store([key for key in batch if results[key.row] == KIND], owners)
                rows_here = [row for row, result in results.items() if result in (KIND, "")]
                package_tables.remember(self.source, KIND, rows_here)
            else:
                self.stored, self.handles = stored, handles
        return results


def _handles(owners: Owners) -> dict[Any, str]:
    return dict(Handle.objects.filter(user__in=owners.users).values_list("user_id", "value"))


def _result(
    key: Key, owners: Owners, stored: Mapping[str, Any], key_count: int, handle: str | None
) -> str:
    """The result for a key, as in `_Run._import`. `stored` has users by the digests of their keys;
    the owner of this key has `key_count` passkeys here, and `handle` if there ever was one."""
    if key.reason or key.new is None:
        return key.reason
    if doubt := owners.doubt(key.user, key.added_at):
        return doubt
    if key.digest in stored:
        return "" if stored[key.digest] == key.user else KEY_CONFLICT
    if key_count >= keys.LIMIT:
        return MANY
    if handle not in (None, key.handle) or not 0 < len(secret.unb64(key.handle)) <= _HANDLE_LENGTH:
        return HANDLE
    # Without the module of second factors, no login would ask for the key.
    return KIND if _verifies(key) or _asks_for_factors() else BARE


def _verifies(key: Key) -> bool:
    return key.discoverable and key.new is not None and key.new.verified


def _asks_for_factors() -> bool:
    return apps.is_installed("authservice.twofactor")


def _store(new: Sequence[Key], owners: Owners) -> None:
    """Insert the passkeys and the handles of their users. The users are locked, so none of them
    adds a passkey meanwhile."""
    if not new:
        return
    stored_handles = _handles(owners)
    new_handles = {key.user: key.handle for key in new if key.user not in stored_handles}
    Handle.objects.bulk_create(
        Handle(user_id=user, value=text) for user, text in new_handles.items()
    )
    Passkey.objects.bulk_create(
        Passkey(
            user_id=key.user,
            credential_id=key.new.credential_id,
            credential_digest=key.digest,
            public_key=key.new.public_key,
            counter=key.counter,
            transports=key.new.transports,
            aaguid=key.new.aaguid,
            backup_eligible=key.new.backup_eligible,
            backed_up=key.new.backed_up,
            name=key.name,
            second_factor=_asks_for_factors(),
            verifies=_verifies(key),
            created_at=key.added_at or clock.now(),
            last_used_at=key.last_used_at,
        )
        for key in new
        if key.new
    )
    targets = [owners.users[key.user] for key in new]
    events.record_all_by_staff("auth.passkey.added", None, targets, Client(), reason="import")
