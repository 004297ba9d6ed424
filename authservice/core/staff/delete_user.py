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
    """Delete the user; receivers of `pre_delete` first transfer the rows that must stay.

    `by` is the acting super admin, `session` their session. Raises as `authority.acting` does,
    `UserNotFound`, `CannotModifySelf`, `LastSuperAdmin`, and `UserInUse` if a table of the host
    still references the user, also by a constraint that Django does not know.
    """
    if by.user.pk == pk:
        raise errors.CannotModifySelf
    held, leaving = super_admins.keys_to_lock(pk, losing=True), None
    try:
        with (
            authority.recorded("admin.user.deleted", pk, by=by.user, client=client),
            authority.acting(by, session, *held) as editor,
        ):
            # The acting super admin stays one: `held` lacks those whom only a property names.
            found = super_admins.read_locked(pk, {*held, by.user.pk}, losing=True)
            authority.require_over_account(editor.user, found)
            leaving = prepare(found, lambda: record(found, by=editor.user, client=client))
            leaving.user.delete(using=databases.primary())
    except IntegrityError as wrong:
        if leaving is None:
            raise  # an earlier statement failed, such as the one that writes the audit entry
        raise errors.UserInUse from wrong  # also from the commit, for deferred constraints


def prepare(person: Person, record: Callable[[], None]) -> Person:
    """Prepare the deletion of a locked user in the current transaction; returns the user. `record`
    is called before the deletion: a deleted user has no primary key to record."""
    record()
    super_admins.lock_against_references(person.user.pk)
    return person


def record(person: Person, *, by: Any, client: Client) -> None:
    """Record the deletion by staff; call it before."""
    events.record_by_staff("admin.user.deleted", by, person.user, client, **known(person))


def known(person: Person) -> dict[str, Any]:
    """What the audit entry of a deletion says of the user."""
    known = {"email": person.email, "username": person.username, "name": person.account.name}
    return {name: {"before": value, "after": None} for name, value in known.items()}
