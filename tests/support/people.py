"""Users of the host's own user model, and helpers for the differences between such models."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.exceptions import FieldDoesNotExist

from authservice.kernel import databases
from tests.support.client import PASSWORD


def has(field: str) -> bool:
    """Whether the host's user model has a column of this name."""
    try:
        return bool(get_user_model()._meta.get_field(field).concrete)
    except FieldDoesNotExist:
        return False


def email_field() -> str:
    return get_user_model().get_email_field_name()


def unsaved(
    email: str = "ann@example.com",
    *,
    username: str = "",
    password: str | None = PASSWORD,
    **more: Any,
) -> Any:
    """A user as a host creates one without authservice; no password means an unusable one."""
    user = get_user_model()(**more)
    setattr(user, email_field(), email)
    if has("username"):
        user.username = username or email.partition("@")[0]
    user.set_password(password)
    return user


def make_user(email: str = "ann@example.com", **more: Any) -> Any:
    user = unsaved(email, **more)
    user.save()
    return user


def the_user(email: str = "ann@example.com") -> Any:
    """The stored user with this address."""
    users = get_user_model().objects.using(databases.primary())  # a replica may lag behind
    return users.get(**{email_field(): email})


def change(email: str = "ann@example.com", /, **columns: Any) -> None:
    """Change columns of a user without any signal, as a script of the host does."""
    get_user_model().objects.filter(**{email_field(): email}).update(**columns)


def deactivate(email: str = "ann@example.com") -> None:
    change(email, is_active=False)


def users() -> int:
    return get_user_model().objects.count()


def permission(codename: str) -> Permission:
    """The permission with this codename; prefers that of authservice to one of Django."""
    found = Permission.objects.filter(codename=codename).select_related("content_type")
    return min(found, key=lambda one: not one.content_type.app_label.startswith("authservice"))
