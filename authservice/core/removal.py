"""Deleting somebody for good, with everything the service keeps of them."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction

from authservice.core import directory, facts, super_admins
from authservice.core.people import Person
from authservice.kernel import errors
from authservice.kernel.client import Client
from authservice.kernel.events import Event
from authservice.kernel.modules import plugs


def delete(pk: Any, *, by: Any, client: Client) -> None:
    """Delete the user; modules first hand on what must not go with them.

    Raises `UserNotFound`, `CannotModifySelf`, `LastSuperAdmin`, and `UserInUse` where a table of
    the host's protects the user, be it by a constraint of which Django does not know.
    """
    if by.pk == pk:
        raise errors.CannotModifySelf
    using, leaving = directory.database(), None
    try:
        with transaction.atomic(using=using):
            leaving = _ready(pk, by, client)
            leaving.user.delete(using=using)
    except IntegrityError as wrong:
        if leaving is None:
            raise  # a fault in what goes before, such as an entry that cannot be written
        raise errors.UserInUse from wrong  # from the commit, where a constraint is judged there


def _ready(pk: Any, by: Any, client: Client) -> Person:
    person = super_admins.hold(pk, losing=True)
    for hand_on in plugs("before_delete"):
        hand_on(person)
    tell(person, by=by, client=client)
    super_admins.shut(pk)
    return person


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
