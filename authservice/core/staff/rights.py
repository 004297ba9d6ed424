"""The rights of users in Django: superuser, staff, groups and permissions.

Staff who may change users could otherwise give themselves every right. So only superusers change
these fields in Django admin, see `admin_pages.SuperAdminGuard`, and every change is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import Permission
from django.db.models import Model

from authservice.core.users.user_model import host
from authservice.kernel import databases, events
from authservice.kernel.client import Client

_APP = "content_type__app_label"
_FIELDS = ("is_superuser", "is_staff", "groups", "user_permissions")

# The value of each field: a boolean, or the sorted names of groups or permissions.
Rights = Mapping[str, Any]


def fields(model: type[Model]) -> tuple[str, ...]:
    """The fields with rights that a user model has; none for any other model."""
    if not issubclass(model, host().model):
        return ()
    present = {field.name for field in (*model._meta.concrete_fields, *model._meta.many_to_many)}
    return tuple(name for name in _FIELDS if name in present)


def find_user(pk: Any) -> Any:
    """The user as stored, or None."""
    return host().model._base_manager.using(databases.primary()).filter(pk=pk).first()


def of(user: Any) -> Rights:
    """The rights of a user. A user who is not stored yet has those that the model gives by
    default."""
    is_new = user._state.adding
    m2m = {field.name for field in user._meta.many_to_many}
    return {
        name: getattr(user, name) if name not in m2m else [] if is_new else _names(user, name)
        for name in fields(type(user))
    }


def changes(before: Rights, after: Rights) -> dict[str, dict[str, Any]]:
    """The rights that differ, in the format of the audit log."""
    return {
        name: {"before": before[name], "after": value}
        for name, value in after.items()
        if value != before[name]
    }


def record(change: Mapping[str, Any], user: Any, *, by: Any, client: Client) -> None:
    """Record that `by` changed these rights of the user."""
    events.record_by_staff("admin.user.rights_changed", by, user, client, **change)


def _names(user: Any, field: str) -> list[str]:
    rows = getattr(user, field).using(databases.primary())
    if issubclass(rows.model, Permission):
        return sorted(".".join(pair) for pair in rows.values_list(_APP, "codename"))
    return sorted(str(row) for row in rows)
