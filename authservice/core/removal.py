"""Deleting somebody for good, with everything the service keeps of them."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import ProtectedError, RestrictedError

from authservice.core import directory, facts, super_admins
from authservice.core.people import Person
from authservice.kernel import errors
from authservice.kernel.events import Event
from authservice.kernel.modules import plugs
from authservice.kernel.ports import Client


def delete(pk: Any, *, by: Any, client: Client) -> None:
    """Delete the user; modules first hand on what must not go with them.

    Raises `UserNotFound`, `CannotModifySelf`, `LastSuperAdmin`, and `UserInUse` where a table of
    the host's protects the user.
    """
    if by.pk == pk:
        raise errors.CannotModifySelf
    using = directory.database()
    with transaction.atomic(using=using):
        person = super_admins.hold(pk, losing=True)
        for hand_on in plugs("before_delete"):
            hand_on(person)
        tell(person, by=by, client=client)
        super_admins.shut(pk)
        try:
            person.user.delete(using=using)
        except (ProtectedError, RestrictedError) as wrong:
            raise errors.UserInUse from wrong


def tell(person: Person, *, by: Any, client: Client) -> None:
    """Tell of it, before it is done: who is deleted has no key any more by which to be named."""
    known = {"email": person.email, "username": person.username, "name": person.account.name}
    event = Event(
        action="admin.user.deleted",
        user=by,
        target=person.user,
        actor_type="admin",
        client=client,
        metadata={name: {"before": value, "after": None} for name, value in known.items()},
    )
    facts.tell(event)
