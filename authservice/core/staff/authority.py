"""Which staff may change which users, and who gives them rights in Django: superuser, staff, groups
and permissions.

There are two kinds of staff: super admins of the API by our flag, and Django's superusers. Neither
our flag nor a permission of Django admin may lead to superuser rights. Staff who can change the
address or number of an account can reset its password.

Staff who may change users could otherwise give themselves every right. So only superusers change
these fields in Django admin, see `admin_pages.SuperAdminGuard`, and every change is recorded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import Permission
from django.db.models import Model

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users import lookup, user_model
from authservice.core.users.person import Person
from authservice.kernel import databases, errors, events
from authservice.kernel.client import Client

# Changing one of these gives access to the account, locks its owner out or changes its rights.
_GUARDED = frozenset(
    {
        *("email", "username", "phone_number", "email_verified", "phone_number_verified"),
        *("active", "is_super_admin"),
    }
)


def is_superuser(user: Any) -> bool:
    """Whether the user has all permissions in Django."""
    return user_model.grants(user, "is_superuser")


def may_change(by: Any, person: Person) -> bool:
    """In Django admin: only a superuser may change accounts of superusers and super admins."""
    return is_superuser(by) or not person.is_super_admin


def may_support(by: Any, person: Person) -> bool:
    """On the support page: only a superuser may act on super admins and on staff. Otherwise support
    staff could act on each other, and on the staff who supervise them."""
    return is_superuser(by) or not (person.is_super_admin or person.is_staff)


def require_over(by: Any, person: Person, fields: Collection[str]) -> None:
    """Over the API: raises `Forbidden` if `by` is not a superuser and changes a guarded field of
    staff or of a superuser."""
    if _GUARDED.intersection(fields):
        require_over_account(by, person)


def require_over_account(by: Any, person: Person) -> None:
    """Raises `Forbidden` if `by` may not delete the account or change its guarded fields."""
    if (person.is_staff or person.is_superuser) and not is_superuser(by):
        raise errors.Forbidden


@contextmanager
def acting(by: Person, session: Session, *other_keys: Any) -> Iterator[Person]:
    """`sessions.changing` for a super admin; checks again that they still are one. Raises
    `InvalidToken` and `Forbidden`."""
    with sessions.changing(by, session, *other_keys) as editor:
        if not editor.is_super_admin:
            raise errors.Forbidden
        yield editor


@contextmanager
def recorded(action: str, pk: Any, *, by: Any, client: Client) -> Iterator[None]:
    """Record a `Forbidden` raised in this block. It wraps the transaction, so that the entry is
    kept although the action is rolled back."""
    try:
        yield
    except errors.Forbidden:
        target = lookup.find_by_pk(pk)
        user = target.user if target else None
        events.record_by_staff("security.forbidden", by, user, client, action=action)
        raise


_APP = "content_type__app_label"
_FIELDS = ("is_superuser", "is_staff", "groups", "user_permissions")

# The value of each field: a boolean, or the sorted names of groups or permissions.
Rights = Mapping[str, Any]


def rights_fields(model: type[Model]) -> tuple[str, ...]:
    """The fields with rights that a user model has; none for any other model."""
    if not issubclass(model, user_model.host().model):
        return ()
    present = {field.name for field in (*model._meta.concrete_fields, *model._meta.many_to_many)}
    return tuple(name for name in _FIELDS if name in present)


def find_with_rights(pk: Any) -> Any:
    """The user as stored, or None."""
    return user_model.host().model._base_manager.using(databases.primary()).filter(pk=pk).first()


def rights_of(user: Any) -> Rights:
    """The rights of a user. A user who is not stored yet has those that the model gives by
    default."""
    is_new = user._state.adding
    m2m = {field.name for field in user._meta.many_to_many}
    return {
        name: getattr(user, name)
        if name not in m2m
        else []
        if is_new
        else _names_in_field(user, name)
        for name in rights_fields(type(user))
    }


def changed_rights(before: Rights, after: Rights) -> dict[str, dict[str, Any]]:
    """The rights that differ, in the format of the audit log."""
    return {
        name: {"before": before[name], "after": value}
        for name, value in after.items()
        if value != before[name]
    }


def record_rights(change: Mapping[str, Any], user: Any, *, by: Any, client: Client) -> None:
    """Record that `by` changed these rights of the user."""
    events.record_by_staff("admin.user.rights_changed", by, user, client, **change)


def _names_in_field(user: Any, field: str) -> list[str]:
    rows = getattr(user, field).using(databases.primary())
    if issubclass(rows.model, Permission):
        return sorted(".".join(pair) for pair in rows.values_list(_APP, "codename"))
    return sorted(str(row) for row in rows)
