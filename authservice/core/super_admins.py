"""Somebody always remains who may do everything.

Whoever takes a super admin's rights away holds the rows of all of them until the transaction ends,
so that of two who do it to each other at once the second one finds the first gone. Rows are locked
in the order of their keys, by everybody, or two could wait for each other.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import connections, transaction
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
    if losing and reigns(present) and not _any_reigns(held - {pk}):
        raise errors.LastSuperAdmin
    return present


def remain_without(pks: Collection[Any]) -> bool:
    """Whether there is a super admin left once these users are gone, who had one among them.

    All of them are kept from changing until the transaction ends, if there is one.
    """
    leaving = set(pks)
    with transaction.atomic(using=directory.database()):
        held = _lock([*leaving, *_all()])
        return not _any_reigns(leaving) or _any_reigns(held - leaving)


def reigns(person: Person) -> bool:
    """Whether they may do everything now."""
    return person.active and person.is_super_admin


def _any_reigns(pks: set[Any]) -> bool:
    rows = Account.objects.using(directory.database()).filter(pk__in=pks).select_related("user")
    return any(reigns(Person(account.user, account)) for account in rows)


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
