"""Write `last_login` as Django's own receiver does, with a statement that is compiled once.

Building that UPDATE for each login would take an eighth of the time of the login. Receivers of
`pre_save` and `post_save` get the same signals as from Django. For a model that overrides how it is
saved, Django's receiver is called. The `dispatch_uid` is Django's: a host project that disconnects
the receiver by it disconnects this one.

Within `defer` the write is executed in the same statement as another write of the transaction,
which saves a round trip. This is not done if the host project has a receiver of the login signal,
since that receiver may read the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import update_last_login
from django.contrib.auth.signals import user_logged_in
from django.db import connections, router, transaction
from django.db.models import DateTimeField, Model
from django.db.models.signals import post_save, pre_save
from django.utils import timezone

from authservice.core.users.user_model import host
from authservice.kernel import settings
from authservice.kernel.sql import Bound, Update, joins, param

_RECEIVER = "update_last_login"
_DEFERRED = "_authservice_deferred"
_FIELDS = frozenset({"last_login"})

_WRITE = Update(
    lambda: host().model._base_manager.filter(
        pk=param("key", host().model, host().model._meta.pk.name)
    ),
    lambda: {"last_login": param("moment", host().model, "last_login")},
)


def connect() -> None:
    """Replace Django's receiver if it is connected."""
    if user_logged_in.disconnect(dispatch_uid=_RECEIVER):
        user_logged_in.connect(write, dispatch_uid=_RECEIVER)


def write(sender: Any, user: Any, **_: Any) -> None:
    """Store the time of the login. Raises as `user.save(update_fields=["last_login"])` does."""
    model: Any = type(user)
    if not _saves_as_django(model) or user._password is not None:
        update_last_login(sender, user)
        return
    user.last_login = timezone.now()
    using = router.db_for_write(model, instance=user)
    pre_save.send(sender=model, **_signal_arguments(user, using))
    statement = _WRITE.bound(using, key=user.pk, moment=user.last_login)
    deferred = user.__dict__.get(_DEFERRED)
    if deferred is not None:
        deferred.append(statement)
        return
    with transaction.mark_for_rollback_on_error(using=using):
        if not statement.run():
            user.save(update_fields=["last_login"])  # raises an error: the row is gone
    _written(user, using)


@contextmanager
def defer(user: Any) -> Iterator[list[Bound]]:
    """In this block, `write` appends its statement to the list instead of executing it.

    The caller must execute the statement once, before the block ends. The list stays empty if the
    database cannot combine statements, or if the login signal has other receivers: they may read
    what Django has written by then.
    """
    statements: list[Bound] = []
    using = router.db_for_write(type(user), instance=user)
    if len(user_logged_in.receivers) > 1 or not joins(connections[using]):
        yield statements
        return
    user.__dict__[_DEFERRED] = statements
    try:
        yield statements
    finally:
        del user.__dict__[_DEFERRED]
    if statements:
        _written(user, using)


def _written(user: Any, using: str) -> None:
    user._state.db = using
    post_save.send(sender=type(user), created=False, **_signal_arguments(user, using))


def _signal_arguments(user: Any, using: str) -> dict[str, Any]:
    return {"instance": user, "raw": False, "using": using, "update_fields": _FIELDS}


@settings.cached_for_host
def _saves_as_django(model: Any) -> bool:
    return (
        model is host().model
        and model.save is AbstractBaseUser.save
        and all(
            getattr(model, step) is getattr(Model, step)
            for step in ("save_base", "_save_table", "_do_update")
        )
        and not model._meta.parents
        and type(model._meta.get_field("last_login")) is DateTimeField
    )
