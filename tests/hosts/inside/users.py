"""Helpers for users of any model of the host, with or without an address."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model

from authservice.core.models import Account
from tests.support.people import email_field, has, unsaved


def unsaved_user() -> Any:
    """An unsaved user of the host, without an account."""
    user = unsaved()
    if not user.get_username():
        setattr(user, user.USERNAME_FIELD, "ann")
    return user


def only() -> Any:
    """The only user."""
    return get_user_model().objects.get()


def natural(user: Any) -> dict[str, str]:
    """The body of a login with the `USERNAME_FIELD` of the host."""
    kind = "email" if email_field() == user.USERNAME_FIELD else "username"
    return {kind: user.get_username()}


def deactivate() -> None:
    if has("is_active"):
        get_user_model().objects.update(is_active=False)
    else:
        Account.objects.update(active=False)
