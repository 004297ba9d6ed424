"""Passkeys in the database: find, store, use and delete them; and the handles of users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from django.db.models import Q, QuerySet

from authservice.core.users import lookup
from authservice.core.users import person as people
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events, secret
from authservice.kernel.client import Client
from authservice.kernel.sql import InsertUnlessStored, Select, Update, param
from authservice.passkeys.models import Handle, Passkey
from authservice.passkeys.relying_party import Assertion

LIMIT = 20
_COLUMNS = tuple(field.attname for field in Passkey._meta.concrete_fields)
_HANDLE = "user__authservice_passkey_handle__value"
_ACCOUNT = "user__authservice_account__user_id"
_INSERT = InsertUnlessStored(lambda: Passkey)
_SENT_TWICE = timedelta(minutes=1)


def _by_digest() -> QuerySet[Any, Any]:
    columns = people.columns(user="user__", account="user__authservice_account__")
    digest = param("digest", Passkey, "credential_digest")
    rows = Passkey.objects.filter(credential_digest=digest).order_by()
    return rows.values_list(*columns, *_COLUMNS, _HANDLE, _ACCOUNT)


_BY_DIGEST = Select(_by_digest)
# The condition is on the row itself, so that a counter that is not above the stored one is refused
# also if several answers arrive at once. `bound` is the counter of the answer. It is 1 for a key
# without a counter, which always sends 0: the stored 0 is below 1. `verifies` is what was read: a
# recovery that unset it since must not leave a login that counts the key as two factors.
_USE = Update(
    lambda: Passkey.objects.filter(
        Q(counter__lt=param("bound", Passkey, "counter")) | Q(backup_eligible=True),
        pk=param("id", Passkey),
        verifies=param("verifies", Passkey),
    ),
    lambda: {
        "counter": param("counter", Passkey),
        "backed_up": param("backed_up", Passkey),
        "last_used_at": param("now", Passkey, "last_used_at"),
    },
)


@dataclass(frozen=True)
class FoundPasskey:
    """A passkey with its user and the user's handle."""

    passkey: Passkey
    person: Person
    handle: str


def digest_of(credential_id: str) -> str:
    return secret.fingerprint(credential_id)


def find(credential_id: str) -> FoundPasskey | None:
    """The passkey with this id (base64url), of any account, in one query."""
    using = databases.primary()
    row = _BY_DIGEST.first(using, digest=digest_of(credential_id))
    if row is None:
        return None
    *columns, handle, account = row[people.width() :]
    passkey = Passkey.from_db(using, _COLUMNS, columns)
    # A user whose passkey was imported may have no account yet.
    person = lookup.find_or_create(passkey.user_id) if account is None else None
    return FoundPasskey(passkey, person or people.read(row, using), handle or "")


def of(person: Person) -> list[Passkey]:
    """The user's passkeys, oldest first."""
    return list(Passkey.objects.filter(user=person.user.pk).order_by("created_at", "pk"))


def find_handle(person: Person) -> str:
    """The handle of the user; "" if there was never a passkey."""
    return Handle.objects.filter(user=person.user.pk).values_list("value", flat=True).first() or ""


@databases.inside_transaction
def take_handle(person: Person, handle: str) -> bool:
    """Make this the handle of the user with the first passkey; False if the user has another one.
    The caller holds the lock of the user's row."""
    if stored_handle := find_handle(person):
        return stored_handle == handle
    Handle.objects.create(user_id=person.user.pk, value=handle)
    return True


@databases.inside_transaction
def add(passkey: Passkey) -> bool:
    """Store a passkey; False if any account has a passkey with this id already."""
    passkey.credential_digest = digest_of(passkey.credential_id)
    return bool(_INSERT.bound(databases.primary(), passkey).run())


@databases.inside_transaction
def remove(chosen: QuerySet[Passkey]) -> list[Passkey]:
    """Delete these passkeys; returns those that this call deleted. The caller holds the lock of
    the user's row."""
    rows = list(chosen.order_by("pk").select_for_update())
    return [row for row in rows if Passkey.objects.filter(pk=row.pk).delete()[0]]


Use = Literal["used", "gone", "fell back"]


@databases.inside_transaction
def use(passkey: Passkey, assertion: Assertion, person: Person, client: Client) -> Use:
    """Store that the passkey was used, with its new counter, and record a counter that fell back.

    A key that cannot be backed up counts its signatures, so a lower counter shows a copy of it. A
    key that can be backed up is on several devices, whose counters need not agree.
    """
    stored = _USE.run(
        databases.primary(),
        id=passkey.pk,
        bound=assertion.counter or 1,
        verifies=passkey.verifies,
        counter=assertion.counter,
        backed_up=assertion.backed_up,
        now=clock.now(),
    )
    if stored:
        if has_fallen_back(passkey, assertion):
            record_counter("security.passkey.counter", passkey, assertion, person, client)
        return "used"
    # The row as it was read: a recovery may have removed it, or unset `verifies`.
    if not Passkey.objects.filter(pk=passkey.pk, verifies=passkey.verifies).exists():
        return "gone"
    record_counter("security.passkey.cloned", passkey, assertion, person, client)
    return "fell back"


def has_fallen_back(passkey: Passkey, assertion: Assertion) -> bool:
    """Whether the counter is not above that of the row. Keys without a counter always send 0."""
    return bool(passkey.counter or assertion.counter) and assertion.counter <= passkey.counter


def is_sent_twice(passkey: Passkey, assertion: Assertion) -> bool:
    """Whether the counter equals that of the last use, less than a minute ago. Then the same answer
    was probably sent twice, as by a double click, and not made with a copy of the key."""
    last = passkey.last_used_at
    recent = last is not None and clock.now() - last < _SENT_TWICE
    return recent and assertion.counter == passkey.counter


def record_counter(
    action: str, passkey: Passkey, assertion: Assertion, person: Person, client: Client
) -> None:
    counters = {"before": passkey.counter, "after": assertion.counter}
    events.record(action, person, client, counter=counters, **described(passkey))


def described(passkey: Passkey) -> Mapping[str, Any]:
    """How an audit entry names a passkey."""
    return {"passkey": str(passkey.pk), "name": passkey.name}
