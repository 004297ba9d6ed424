"""Users of whatever model the host has, an address or not."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model

from authservice.core.models import Account
from tests.people import email_field, has, unsaved


def stranger() -> Any:
    """An unsaved user as the host makes one, without us."""
    user = unsaved()
    if not user.get_username():
        setattr(user, user.USERNAME_FIELD, "ann")
    return user


def only() -> Any:
    """The one user there is."""
    return get_user_model().objects.get()


def natural(user: Any) -> dict[str, str]:
    """The body of a login by what the host itself knows its users by."""
    kind = "email" if email_field() == user.USERNAME_FIELD else "username"
    return {kind: user.get_username()}


def deactivate() -> None:
    if has("is_active"):
        get_user_model().objects.update(is_active=False)
    else:
        Account.objects.update(active=False)
