"""The tables of other packages: read in batches, each row imported once, and only for its owner.

Access from another package may belong to an attacker, who signed up there with the address of
another person (account pre-hijacking). So it is not imported if the owner has proven the address
since, which removed all earlier access. If the owner proves the address after the import, that
removes the imported access too.

A user, staff or a recovery may also have removed an imported link or second factor. Importing it
again would give access back to an intruder, or require a code of a phone that the user has lost. So
imported rows are remembered, and no later run imports them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.db.models import Model, QuerySet

from authservice.core.conf import core
from authservice.core.credentials import passwords
from authservice.core.models import KEY, Account, ImportedRow
from authservice.core.users.user_model import host
from authservice.kernel import databases
from authservice.kernel.imports import ImportOptions
from authservice.kernel.secret import fingerprint

REMOVED = "it was imported by an earlier run and was removed here since"
NO_USER = "the user does not exist"
PROVEN = "the address of the account was proven here later, which removes earlier access"


def find(label: str) -> type[Model] | None:
    """The model with this label, such as "account.EmailAddress"; None if it is not installed."""
    try:
        model: type[Model] = apps.get_model(label)
    except LookupError:
        return None
    return model


def rows(model: Any) -> QuerySet[Any]:
    """All rows, from the database that the package writes to, because a replica may lag behind."""
    queryset: QuerySet[Any] = model._base_manager.using(databases.written(model))
    return queryset


def batches(
    queryset: QuerySet[Any], options: ImportOptions, *, added_field: str = ""
) -> Iterator[tuple[list[Any], int]]:
    """The rows in the order of their keys, each batch with the number of all rows. If the package
    stores when it added a row, `added_field` is the field of that time: rows from before
    `options.since` are left out, and rows without a time are read."""
    queryset = queryset.order_by("pk")
    if options.since and added_field:
        queryset = queryset.exclude(**{f"{added_field}__lt": options.since})
    total, last = queryset.count(), None
    remaining = queryset
    while batch := list(remaining[: options.batch_size]):
        yield batch, total
        last = batch[-1].pk
        remaining = queryset.filter(pk__gt=last)


def seen(source: str, kind: str, rows: Collection[Any]) -> dict[Any, datetime]:
    """Which of these primary keys of the other package were imported, and when. One statement."""
    keys = {_key(row): row for row in rows}
    imported = ImportedRow.objects.filter(source=source, kind=kind, key__in=list(keys))
    return {keys[key]: moment for key, moment in imported.values_list("key", "imported_at")}


def remember(source: str, kind: str, rows: Collection[Any]) -> None:
    """Store that these rows were imported, once what they become is stored. One statement."""
    new = [ImportedRow(source=source, kind=kind, key=_key(row)) for row in rows]
    ImportedRow.objects.using(databases.primary()).bulk_create(new, ignore_conflicts=True)


def _key(row: Any) -> str:
    text = str(row)
    return text if len(text) <= KEY else fingerprint(text)


@dataclass(frozen=True)
class Owners:
    """Users of a batch, and when they proved their address here."""

    users: Mapping[Any, Any]
    proven: Mapping[Any, datetime]

    @classmethod
    def of(cls, keys: set[Any], *, lock: bool) -> Owners:
        """`lock` the users until the transaction ends: they can neither be deleted nor change their
        access. Two or three statements."""
        if lock:
            passwords.lock_users(keys)
        users = host().model._base_manager.using(databases.primary()).in_bulk(keys)
        rows = Account.objects.filter(user__in=keys).values_list("user_id", "email_proven_at")
        proven = {user: proven_at for user, proven_at in rows if proven_at}
        return cls(users=users, proven=proven)

    def doubt(self, key: Any, added_at: datetime | None) -> str:
        """Why access that the package added at this time must not be imported for this user; "" if
        it may."""
        if key not in self.users:
            return NO_USER
        proven_at = self.proven.get(key)
        earlier = proven_at is not None and (added_at is None or proven_at >= added_at)
        return PROVEN if core.wipe_unproven and earlier else ""
