"""Receives `post_save` of the host's user model: creates the account and updates the copies.

A receiver must never prevent the host project from saving a user. A database error is rolled back
to a savepoint and logged, and the next look-up repairs the account.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models.signals import post_save

from authservice.core.users import lookup
from authservice.core.users.user_model import host
from authservice.kernel import databases

logger = logging.getLogger("authservice.accounts")

_own_save: ContextVar[bool] = ContextVar("authservice_own_save", default=False)


@contextmanager
def own_save() -> Iterator[None]:
    """Context for our own code that saves a user and writes the account itself: the receiver does
    nothing."""
    token = _own_save.set(True)
    try:
        yield
    finally:
        _own_save.reset(token)


def connect() -> None:
    post_save.connect(sync_account_of_user, dispatch_uid="authservice.core.users.signals")


def sync_account_of_user(
    sender: type, instance: Any, raw: bool = False, update_fields: Any = None, **_: Any
) -> None:
    """Create the account of a new user; update the copies of a changed one."""
    if raw or _own_save.get() or not issubclass(sender, host().model):
        return
    if update_fields is not None and not {host().email, host().username} & set(update_fields):
        return
    try:
        with transaction.atomic(using=databases.primary()):
            lookup.keep_in_sync(instance)
    except DatabaseError:
        logger.exception("The account of user %s could not be synchronised", instance.pk)
