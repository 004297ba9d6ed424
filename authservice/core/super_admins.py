"""Somebody always remains who may do everything.

Whoever takes a super admin's rights away holds the rows of all of them until the transaction ends,
so that of two who do it to each other at once the second one finds the first gone. Rows are locked
in the order of their keys, by everybody, or two could wait for each other.
"""

from __future__ import annotations

from collections.abc import Collection, Set
from typing import Any

from django.db import connections
from django.db.models import QuerySet

from authservice.core import directory
from authservice.core.host import host
from authservice.core.models import Account
from authservice.core.people import Person
from authservice.kernel import errors


def hold(pk: Any, *, losing: bool) -> Person:
    """The person as they are now, kept from changing until the transaction ends.

    Raises `UserNotFound`, and `LastSuperAdmin` where they are `losing` rights that no other active
    super admin has.
    """
    person = directory.by_pk(pk)
    held = _lock([pk, *_all()] if losing and person and reigns(person) else [pk])
    present = directory.by_pk(pk)
    if pk not in held or present is None:
        raise errors.UserNotFound
    # Who was made a super admin since the first look is taken for the last one: others are not
    # held, and taking their locks out of order could wait for ever.
    if losing and reigns(present) and not _reigning(held - {pk}):
        raise errors.LastSuperAdmin
    return present


def hold_leaving(pk: Any, leaving: Set[Any]) -> Person | None:
    """The same for one of several who leave together, None where there is no such account.

    Raises `LastSuperAdmin` where the others who leave are all that is left.
    """
    # All of them from the first one who leaves on: taken later, two could wait for each other.
    among = [] if leaving.isdisjoint(everyone := _all()) else everyone
    held = _lock([pk, *among])
    present = directory.by_pk(pk)
    if present and reigns(present) and not _reigning(held - leaving):
        raise errors.LastSuperAdmin
    return present


def shut(pk: Any) -> None:
    """Let nobody refer to a user any more who is about to be deleted in this transaction.

    A row that did, committed after Django's look for such rows, would undo the deletion: who adds
    one waits, and then refers to nobody.
    """
    list(_users().filter(pk=pk).select_for_update().values_list("pk"))


def reigning() -> set[Any]:
    """Keys of those who may do everything now."""
    return _reigning(_all())


def reigns(person: Person) -> bool:
    """Whether they may do everything now."""
    return person.active and person.is_super_admin


def _reigning(pks: Collection[Any]) -> set[Any]:
    rows = Account.objects.using(directory.database()).filter(pk__in=pks).select_related("user")
    return {account.pk for account in rows if reigns(Person(account.user, account))}


def _all() -> list[Any]:
    """Keys of all super admins there may be: by our flag, or by the host's."""
    flagged = Account.objects.using(directory.database()).filter(is_super_admin=True)
    pks = list(flagged.values_list("pk", flat=True))
    if host().superuser:
        pks += _users().filter(**{host().superuser: True}).values_list("pk", flat=True)
    return pks


def _lock(pks: list[Any]) -> set[Any]:
    # Not their keys, where a database tells the two apart: who writes a row that refers to one of
    # them, such as an entry in a log, need not wait, and two never wait for each other.
    told_apart = connections[directory.database()].features.has_select_for_no_key_update
    rows = _users().filter(pk__in=pks).order_by("pk").select_for_update(no_key=told_apart)
    return set(rows.values_list("pk", flat=True))


def _users() -> QuerySet[Any]:
    users: QuerySet[Any] = host().model._base_manager.using(directory.database())
    return users
