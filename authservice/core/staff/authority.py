"""Which staff may change which users.

There are two kinds of staff: super admins of the API by our flag, and Django's superusers. Neither
our flag nor a permission of Django admin may lead to superuser rights. Staff who can change the
address or number of an account can reset its password.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users import lookup, user_model
from authservice.core.users.person import Person
from authservice.kernel import errors, events
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
