"""Somebody always remains who may do everything.

Whoever takes a super admin's rights away holds the rows of all of them until the transaction ends,
so that of two who do it to each other at once the second one finds the first gone. Rows are locked
in the order of their keys, by everybody, or two could wait for each other.
"""

from __future__ import annotations

from collections.abc import Collection, Set
from typing import Any

from django.db.models import QuerySet

from authservice.core.credentials import passwords
from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import databases, errors


def lock_user(pk: Any, *, losing: bool) -> Person:
    """The person as they are now, kept from changing until the transaction ends.

    Raises `UserNotFound`, and `LastSuperAdmin` where they are `losing` rights that no other active
    super admin has.
    """
    held = _lock(concerned(pk, losing=losing))
    return present(pk, held, losing=losing)


def concerned(pk: Any, *, losing: bool) -> set[Any]:
    """Keys of the users to lock in one statement before the user is changed: those of all super
    admins too if the user may lose super admin rights."""
    person = lookup.find_by_pk(pk)
    return {pk, *_all()} if losing and person and is_active_super_admin(person) else {pk}


def present(pk: Any, held: Set[Any], *, losing: bool) -> Person:
    """The user as stored now; the rows of `held` are locked. Raises as `hold` does."""
    found = lookup.find_by_pk(pk)
    if pk not in held or found is None:
        raise errors.UserNotFound
    # If the user became a super admin after the first read, treat them as the last one: the other
    # rows are not locked, and locking them now could deadlock.
    if losing and is_active_super_admin(found) and not _reigning(held - {pk}):
        raise errors.LastSuperAdmin
    return found


def lock_leaving(pk: Any, leaving: Set[Any]) -> Person | None:
    """The same for one of several users who are deleted together, None if there is no such user.

    Raises `LastSuperAdmin` if no super admin would remain.
    """
    # All of them from the first one who leaves on: taken later, two could wait for each other.
    among = [] if leaving.isdisjoint(everyone := _all()) else everyone
    held = _lock({pk, *among})
    found = lookup.find_by_pk(pk) or without_account(pk)
    if found and is_active_super_admin(found) and not _reigning(held - leaving):
        raise errors.LastSuperAdmin
    return found


def shut(pk: Any) -> None:
    """Let nobody refer to a user any more who is about to be deleted in this transaction.

    A row that did, committed after Django's look for such rows, would undo the deletion: who adds
    one waits, and then refers to nobody.
    """
    list(_users().filter(pk=pk).select_for_update().values_list("pk"))


def active_super_admins() -> set[Any]:
    """Keys of those who may do everything now."""
    return _reigning(_all())


def is_active_super_admin(person: Person) -> bool:
    """Whether they may do everything now."""
    return person.active and person.is_super_admin


def _reigning(pks: Collection[Any]) -> set[Any]:
    rows = Account.objects.using(databases.primary()).filter(pk__in=pks).select_related("user")
    people = [Person(account.user, account) for account in rows]
    missing = set(pks).difference(person.user.pk for person in people)
    people += [_unsaved(user) for user in (_users().filter(pk__in=missing) if missing else ())]
    return {person.user.pk for person in people if is_active_super_admin(person)}


def without_account(pk: Any) -> Person | None:
    """A user created before the service was installed; the new account is not stored."""
    user = _users().filter(pk=pk).first()
    return _unsaved(user) if user else None


def _unsaved(user: Any) -> Person:
    return Person(user, lookup.unsaved_account(user, lookup.copies(user)))


def _all() -> list[Any]:
    """Keys of all super admins there may be: by our flag, or by the host's."""
    flagged = Account.objects.using(databases.primary()).filter(is_super_admin=True)
    pks = list(flagged.values_list("pk", flat=True))
    if host().superuser:
        pks += _users().filter(**{host().superuser: True}).values_list("pk", flat=True)
    return pks


def _lock(pks: Collection[Any]) -> set[Any]:
    return passwords.lock_users(pks)


def _users() -> QuerySet[Any]:
    users: QuerySet[Any] = host().model._base_manager.using(databases.primary())
    return users
