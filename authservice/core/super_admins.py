"""Somebody always remains who may do everything.

Whoever takes a super admin's rights away holds the rows of all of them until the transaction ends,
so that of two who do it to each other at once the second one finds the first gone. Rows are locked
in the order of their keys, by everybody, or two could wait for each other.
"""

from __future__ import annotations

from typing import Any

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
    held = _lock([pk, *_all()] if losing and person and _reigns(person) else [pk])
    present = directory.by_pk(pk)
    if pk not in held or present is None:
        raise errors.UserNotFound
    # Who was made a super admin since the first look is taken for the last one: others are not
    # held, and taking their locks out of order could wait for ever.
    if losing and _reigns(present) and not _any_reigns(held - {pk}):
        raise errors.LastSuperAdmin
    return present


def _reigns(person: Person) -> bool:
    return person.active and person.is_super_admin


def _any_reigns(pks: set[Any]) -> bool:
    rows = Account.objects.using(directory.database()).filter(pk__in=pks).select_related("user")
    return any(_reigns(Person(account.user, account)) for account in rows)


def _all() -> list[Any]:
    """Keys of all super admins there may be: by our flag, or by the host's."""
    flagged = Account.objects.using(directory.database()).filter(is_super_admin=True)
    pks = list(flagged.values_list("pk", flat=True))
    if host().superuser:
        pks += _users().filter(**{host().superuser: True}).values_list("pk", flat=True)
    return pks


def _lock(pks: list[Any]) -> set[Any]:
    rows = _users().filter(pk__in=pks).order_by("pk").select_for_update()
    return set(rows.values_list("pk", flat=True))


def _users() -> QuerySet[Any]:
    users: QuerySet[Any] = host().model._base_manager.using(directory.database())
    return users
