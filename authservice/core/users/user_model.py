"""The host's user model: which of our fields it has itself, and what it says of a user."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.exceptions import FieldDoesNotExist
from django.db import Error
from django.db.models.signals import pre_delete

from authservice.kernel import settings

logger = logging.getLogger("authservice.accounts")


@dataclass(frozen=True)
class Host:
    """Names of the host's fields, "" if its model has no such field.

    `active` and `superuser` name a column only if nothing hides it: a property or a method of the
    same name decides instead of the column.
    """

    model: Any
    key: str
    natural: str
    email: str
    username: str
    first_name: str
    last_name: str
    active: str
    superuser: str
    joined: str


def before_deletion(receiver: Callable[..., None], uid: str) -> None:
    """Call `receiver` as a receiver of `pre_delete` for each user, in whatever way the user is
    deleted: by this service, in Django admin, or by code of the project."""
    # The sender of `pre_delete` is the class of the instance, also a proxy of the user model.
    # Django loads each row of a model with a receiver before it deletes it, so this connects the
    # models of users only.
    users = get_user_model()._meta.concrete_model
    for model in apps.get_models():
        if model._meta.concrete_model is users:
            pre_delete.connect(receiver, sender=model, dispatch_uid=f"{uid}.{model._meta.label}")


@settings.cached_for_host
def host() -> Host:
    """The names of the fields of the current user model."""
    model: Any = get_user_model()
    natural = model.USERNAME_FIELD
    email = _present(model, model.get_email_field_name())
    username = _present(model, "username") or ("" if natural == email else natural)
    return Host(
        model=model,
        key=model._meta.pk.attname,
        natural=natural,
        email=email,
        username=username,
        first_name=_present(model, "first_name"),
        last_name=_present(model, "last_name"),
        active=_flag(model, "is_active"),
        superuser=_flag(model, "is_superuser"),
        joined=_present(model, "date_joined"),
    )


def _present(model: Any, name: str) -> str:
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        return ""
    return name if getattr(field, "concrete", False) else ""


def _flag(model: Any, name: str) -> str:
    """The column of this name, "" if there is none or if the class has something else of that
    name, as a proxy model may."""
    if not _present(model, name):
        return ""
    descriptor = model._meta.get_field(name).descriptor_class
    return name if isinstance(inspect.getattr_static(model, name), descriptor) else ""


def grants(user: Any, flag: str) -> bool:
    """Whether the host's model says that the user has the flag, such as `is_active`: by a column, a
    property or a method. False if the model does not know the flag, or fails."""
    return _read_flag(user, flag) is True


def may_have(user: Any, flag: str) -> bool:
    """As `grants`, but true if the model fails: for flags that protect the user from others."""
    return _read_flag(user, flag) is not False


def _read_flag(user: Any, flag: str) -> bool | None:
    """What the model says of the flag; None if it fails."""
    try:
        value = getattr(user, flag, False)
        if iscoroutinefunction(value):
            raise TypeError(f"{flag} is an async method")  # its coroutine would count as true
        return bool(value() if callable(value) else value)
    except Error:
        raise  # an outage says nothing about the user
    except Exception:
        logger.exception("%s of user %s cannot be read", flag, user.pk)
        return None
