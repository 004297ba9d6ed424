"""Conditions on accounts by flags of the host's user model, for filters of lists.

If the flag is a column, the database compares it. If it is a property or a method of the model, it
is read for each user: our own flag alone would list a user as active whom the model suspends. This
reads the whole table, so call these functions only for a list that is filtered. They raise
`ValidationFailed` if too many users are to be selected.
"""

from __future__ import annotations

import inspect
from typing import Any

from django.db.models import Exists, OuterRef, Q

from authservice.core.models import Account
from authservice.core.users import user_model
from authservice.core.users.user_model import host
from authservice.kernel import databases
from authservice.kernel.errors import invalid
from authservice.kernel.phrases import phrase

_READ = 2000  # users at once
# Keys of one condition. A statement may have two such conditions, each twice: for the rows and for
# their number. SQLite takes 32,766 parameters, and PostgreSQL 65,535.
MOST = 8000
_TOO_MANY = phrase(
    "The list cannot be filtered by this: it is not a column of the users, and too many are to be"
    " selected."
)


def suspended() -> Q:
    """Accounts of users who are not active, as `Person.active` says."""
    if host().active:
        return user_has(**{host().active: False})
    ours = Q(active=False)
    if inspect.getattr_static(host().model, "is_active", False) is True:
        return ours  # as Django's base class has it: the model says nothing
    return ours | Q(pk__in=_keys("is_active", said=False, name="active"))


def super_admins() -> Q:
    """Accounts of super admins, as `Person.is_super_admin` says: by our flag or by the host's. A
    UNION of few rows of each table, since no index covers both."""
    flagged, superuser = Q(is_super_admin=True), host().superuser
    if superuser:
        accounts = Account.objects.using(databases.primary())
        superusers = accounts.filter(user_has(**{superuser: True})).values("pk")
        return Q(pk__in=accounts.filter(flagged).values("pk").union(superusers, all=True))
    if inspect.getattr_static(host().model, "is_superuser", None) is None:
        return flagged
    return flagged | Q(pk__in=_keys("is_superuser", said=True, name="is_super_admin"))


def user_has(**values: Any) -> Q:
    """A condition on the host's row. A subquery, since a database may read all users for a join."""
    users = host().model._base_manager.using(databases.primary())
    return Q(Exists(users.filter(pk=OuterRef("pk"), **values).order_by()))


def _keys(flag: str, *, said: bool, name: str) -> list[Any]:
    """The keys of the users of whom the model says this. Raises `ValidationFailed` for the filter
    `name` if a statement cannot have all of them as parameters."""
    users = host().model._base_manager.using(databases.primary()).order_by("pk")
    found = []
    for user in users.iterator(chunk_size=_READ):
        if user_model.grants(user, flag) is said:
            found.append(user.pk)
            if len(found) > MOST:
                raise invalid(name, _TOO_MANY)
    return found
