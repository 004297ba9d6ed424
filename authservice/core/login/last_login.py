"""Write `last_login` as Django's own receiver does, with a statement that is compiled once.

Building that UPDATE for each login would take an eighth of the time of the login. Receivers of
`pre_save` and `post_save` get the same signals as from Django. For a model that overrides how it is
saved, Django's receiver is called. The `dispatch_uid` is Django's: a host project that disconnects
the receiver by it disconnects this one.

Within `followed_by` it also runs the other statements of the login, which are one statement with it
on PostgreSQL. Receivers of the login signal that are called after it see all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import update_last_login
from django.contrib.auth.signals import user_logged_in
from django.db import router, transaction
from django.db.models import DateTimeField, Model
from django.db.models.signals import post_save, pre_save
from django.utils import timezone

from authservice.core.credentials import passwords
from authservice.core.users.user_model import host
from authservice.kernel import settings
from authservice.kernel.sql import Bound, Update, param, run_together

_RECEIVER = "update_last_login"
_FOLLOWING = "_authservice_following"
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
    following = user.__dict__.pop(_FOLLOWING, ())
    with transaction.mark_for_rollback_on_error(using=using):
        if following:
            run_together(statement, *following)
        elif not statement.run():
            user.save(update_fields=["last_login"])  # raises an error: the row is gone
    user._state.db = using
    post_save.send(sender=model, created=False, **_signal_arguments(user, using))


@contextmanager
def followed_by(user: Any, *statements: Bound) -> Iterator[None]:
    """In this block, in which the caller sends the login signal, `write` runs these statements
    after its own; the last one inserts a row that references the user.

    If `write` is not called, or leaves the row to Django, they run at the end of the block. They
    lock rows of the user's account, so the user's row is locked first: the lock order.
    """
    user.__dict__[_FOLLOWING] = statements
    try:
        yield
    finally:
        following = user.__dict__.pop(_FOLLOWING, ())
    if following:
        passwords.lock_users([user.pk])
        run_together(*following)


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
