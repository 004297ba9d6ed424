"""At least one active super admin always remains.

A transaction that removes the rights of a super admin locks the rows of all super admins until it
ends. If two super admins remove each other's rights at the same time, the second transaction reads
the result of the first. Rows are always locked in the order of their keys, to avoid deadlocks.
"""

from __future__ import annotations

from collections.abc import Collection, Set
from typing import Any

from django.db.models import QuerySet

from authservice.core import errors
from authservice.core.credentials import passwords
from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.core.users.person import Person, copies, unsaved_account
from authservice.core.users.user_model import host
from authservice.kernel import databases


def lock_user(pk: Any, *, losing: bool) -> Person:
    """Lock the user until the transaction ends; returns the current user.

    `losing` says that super admin rights are removed. Raises `UserNotFound`, and `LastSuperAdmin`
    if no other active super admin would remain.
    """
    locked = passwords.lock_users(keys_to_lock(pk, losing=losing))
    return read_locked(pk, locked, losing=losing)


def keys_to_lock(pk: Any, *, losing: bool) -> set[Any]:
    """Keys of the users to lock in one statement before the user is changed: those of all super
    admins too if the user may lose super admin rights."""
    person = lookup.find_by_pk(pk) if losing else None
    return {pk, *_all()} if person and is_active_super_admin(person) else {pk}


def read_locked(pk: Any, locked_keys: Set[Any], *, losing: bool) -> Person:
    """The user as stored now; `locked_keys` are the keys of the users that are locked. Raises the
    errors of `lock_user`."""
    present = lookup.find_by_pk(pk)
    if pk not in locked_keys or present is None:
        raise errors.UserNotFound
    # If the user became a super admin after the first read, treat them as the last one: the other
    # rows are not locked, and locking them now could deadlock.
    if losing and is_active_super_admin(present) and not _active_among(locked_keys - {pk}):
        raise errors.LastSuperAdmin
    return present


def lock_leaving(pk: Any, leaving: Set[Any]) -> Person | None:
    """Lock and read one of several users who are deleted together; None if there is no such user.

    Raises `LastSuperAdmin` if no super admin would remain.
    """
    # Lock all super admins before the first one is deleted: locking them later could deadlock.
    everyone = _all()
    to_lock = {pk} if leaving.isdisjoint(everyone) else {pk, *everyone}
    locked = passwords.lock_users(to_lock)
    present = lookup.find_by_pk(pk) or without_account(pk)
    if present and is_active_super_admin(present) and not _active_among(locked - leaving):
        raise errors.LastSuperAdmin
    return present


def lock_against_references(pk: Any) -> None:
    """Lock a user who is about to be deleted, so that no other transaction can reference the row.

    Django looks for rows that reference the user and deletes them first. If another transaction
    committed such a row after that, the deletion would fail. With the lock, the other transaction
    waits, and then fails because the user is gone.
    """
    list(_users().filter(pk=pk).select_for_update().values_list("pk"))


def active_super_admins() -> set[Any]:
    """Keys of all active super admins."""
    return _active_among(_all())


def is_active_super_admin(person: Person) -> bool:
    """Whether the user is active and a super admin."""
    return person.active and person.is_super_admin


def _active_among(pks: Collection[Any]) -> set[Any]:
    rows = Account.objects.filter(pk__in=pks).select_related("user")
    people = [Person(account.user, account) for account in rows]
    missing = set(pks).difference(person.user.pk for person in people)
    people += [_unsaved(user) for user in (_users().filter(pk__in=missing) if missing else ())]
    return {person.user.pk for person in people if is_active_super_admin(person)}


def without_account(pk: Any) -> Person | None:
    """A user created before the service was installed; the new account is not stored."""
    user = _users().filter(pk=pk).first()
    return _unsaved(user) if user else None


def _unsaved(user: Any) -> Person:
    return Person(user, unsaved_account(user, copies(user)))


def _all() -> list[Any]:
    """Keys of all super admins, active or not: by our flag, or by the host's superuser flag."""
    flagged = Account.objects.filter(is_super_admin=True)
    pks = list(flagged.values_list("pk", flat=True))
    if host().superuser:
        pks += _users().filter(**{host().superuser: True}).values_list("pk", flat=True)
    return pks


def _users() -> QuerySet[Any]:
    users: QuerySet[Any] = host().model._base_manager.using(databases.primary())
    return users
