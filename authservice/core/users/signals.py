"""The host's user rows as they are saved: an account comes with each, and copies stay in step.

A receiver must never be the reason why a host cannot save a user: whatever goes wrong is logged,
undone to a savepoint, and mended by the next find.
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

_ours: ContextVar[bool] = ContextVar("authservice_own_save", default=False)


@contextmanager
def own_save() -> Iterator[None]:
    """Within, users are saved by a rule of ours that writes the account itself."""
    token = _ours.set(True)
    try:
        yield
    finally:
        _ours.reset(token)


def connect() -> None:
    post_save.connect(sync_account_of_user, dispatch_uid="authservice.core.users.signals")


def sync_account_of_user(
    sender: type, instance: Any, raw: bool = False, update_fields: Any = None, **_: Any
) -> None:
    """Adopt a new user; bring the copies of a changed one in step."""
    if raw or _ours.get() or not issubclass(sender, host().model):
        return
    if update_fields is not None and not {host().email, host().username} & set(update_fields):
        return
    try:
        with transaction.atomic(using=databases.primary()):
            lookup.keep_in_sync(instance)
    except DatabaseError:
        logger.exception("The account of user %s could not be kept in step", instance.pk)
