"""Delete a user permanently, with all their data in the service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import IntegrityError

from authservice.core import errors
from authservice.core.models import Session
from authservice.core.staff import authority, super_admins
from authservice.core.users.person import Person
from authservice.kernel import databases, events
from authservice.kernel.client import Client


def delete(pk: Any, *, by: Person, session: Session, client: Client) -> None:
    """Delete the user. Receivers of `pre_delete` may first transfer rows that must stay.

    `by` is the acting super admin, `session` their session. Raises the errors of
    `authority.acting`, `UserNotFound`, `CannotModifySelf`, `LastSuperAdmin`, and `UserInUse` if a
    table of the host project still references the user, also by a constraint that Django does not
    know.
    """
    if by.user.pk == pk:
        raise errors.CannotModifySelf
    keys_to_lock = super_admins.keys_to_lock(pk, losing=True)
    prepared = None
    try:
        with (
            authority.recorded("admin.user.deleted", pk, by=by.user, client=client),
            authority.acting(by, session, *keys_to_lock) as editor,
        ):
            # `keys_to_lock` lacks super admins who are that by a property of the user model only.
            # The acting super admin may be one of them, and remains.
            present = super_admins.read_locked(pk, {*keys_to_lock, by.user.pk}, losing=True)
            authority.require_over_account(editor.user, present)
            prepared = prepare(present, lambda: record(present, by=editor.user, client=client))
            prepared.user.delete(using=databases.primary())
    except IntegrityError as error:
        if prepared is None:
            raise  # an earlier statement failed, such as the one that writes the audit entry
        raise errors.UserInUse from error  # also from the commit, for deferred constraints


def prepare(person: Person, write_entry: Callable[[], None]) -> Person:
    """Prepare the deletion of a locked user in the current transaction; returns the user.

    `write_entry` writes the audit entry now: a deleted user has no primary key to record.
    """
    write_entry()
    super_admins.lock_against_references(person.user.pk)
    return person


def record(person: Person, *, by: Any, client: Client) -> None:
    """Record a deletion by staff; call it before the deletion."""
    events.record_by_staff("admin.user.deleted", by, person.user, client, **audit_metadata(person))


def audit_metadata(person: Person) -> dict[str, Any]:
    """What the audit entry of a deletion says of the user."""
    values = {"email": person.email, "username": person.username, "name": person.account.name}
    return {name: {"before": value, "after": None} for name, value in values.items()}
