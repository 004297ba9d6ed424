"""Receives `post_save` of the host's user model: creates the account and updates the copies. And
`pre_delete`: modules forget the user in rows of others.

The receiver of `post_save` must never prevent the host project from saving a user. A database error
is rolled back to a savepoint and logged, and the next look-up repairs the account.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models.signals import post_save

from authservice.core.users import identifiers, lookup
from authservice.core.users.user_model import before_deletion, host
from authservice.kernel import databases
from authservice.kernel.interfaces import AccountAccess
from authservice.kernel.modules import plugs

logger = logging.getLogger("authservice.accounts")

_own_save: ContextVar[bool] = ContextVar("authservice_own_save", default=False)


def connect() -> None:
    post_save.connect(sync_account_of_user, dispatch_uid="authservice.core.users.signals")
    before_deletion(_forget, "authservice.core.users.signals")


def _forget(instance: Any, using: str, **_: Any) -> None:
    email = getattr(instance, host().email, "") if host().email else ""
    if email and using == databases.primary():
        for access in plugs(AccountAccess):
            access.before_deletion(identifiers.email_key(email))


def sync_account_of_user(
    sender: Any,
    instance: Any,
    using: str = "",
    raw: bool = False,
    update_fields: Any = None,
    **_: Any,
) -> None:
    """Create the account of a new user; update the copies of a changed one.

    A user who is saved in another database than that of the accounts is ignored.
    """
    if raw or _own_save.get():
        return
    # With multi-table inheritance, the row of a parent belongs to a user too. If the user model is
    # a proxy, so does the row of its concrete model.
    model = host().model
    if not issubclass(sender, model) and not issubclass(model, sender._meta.concrete_model):
        return
    if update_fields is None:
        update_fields = {field.name for field in sender._meta.concrete_fields}
    # Without an address or a username among the saved fields, no copy changes.
    if not {host().email, host().username} & set(update_fields):
        return
    if using and using != databases.primary():
        return
    try:
        with transaction.atomic(using=databases.primary()):
            pk = instance.pk
            if not isinstance(instance, model):
                # `instance` is a row of a parent model, perhaps of no user. The user model inherits
                # the primary key of the parent as a field of the same name. This takes one query.
                users = model._base_manager.using(databases.primary())
                rows = users.filter(**{sender._meta.pk.name: instance.pk})
                pk = rows.values_list("pk", flat=True).first()
            if pk is not None:
                keep_in_sync(pk)
    except DatabaseError:
        logger.exception("The account of user %s could not be synchronised", instance.pk)


def keep_in_sync(pk: Any) -> None:
    """Create a missing account, update the copies, and retry keys that another user had before.

    Reads the stored row: an instance may have database expressions as values, or values that were
    not saved.
    """
    person = lookup.find_or_create(pk)  # updates the copies too
    if person is None:
        return
    account = person.account
    # A claim without its key: when it was made, another user claimed the same one.
    unassigned = (account.email_claim and not account.email_key) or (
        account.username_claim and not account.username_key
    )
    if unassigned:
        lookup.sync_account(person)


@contextmanager
def own_save() -> Iterator[None]:
    """Context for our own code that saves a user and writes the account itself: the receiver does
    nothing."""
    token = _own_save.set(True)
    try:
        yield
    finally:
        _own_save.reset(token)
