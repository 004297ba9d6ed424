"""Conditions on accounts for lists of users: by a text, by a verified address, and by flags of the
host's user model.

PostgreSQL has indexes for `TEXTS` and `VERIFIED`; an index must have the same expression.

If a flag is a column, the database compares it. If it is a property or a method of the model, it
is read for each user: our own flag alone would list a user as active whom the model suspends. This
reads the whole table, so call `suspended` and `super_admins` only for a list that is filtered. Both
raise `ValidationFailed` if too many users are to be selected.
"""

from __future__ import annotations

import inspect
from typing import Any

from django.db import connections
from django.db.models import BooleanField, Exists, F, Func, OuterRef, Q, TextField, Value
from django.db.models.functions import Lower
from django.db.models.lookups import Contains

from authservice.core.models import Account
from authservice.core.users import user_model
from authservice.core.users.user_model import host
from authservice.kernel import databases, sql
from authservice.kernel.errors import invalid
from authservice.kernel.languages import phrase

COLUMNS = ("name", "email", "username")
# The texts in lower case, joined by a line feed, which no search text contains.
TEXTS = Func(
    *map(F, COLUMNS),
    template="LOWER(%(expressions)s)",
    arg_joiner=" || chr(10) || ",
    output_field=TextField(),
)
# Whether the verified key is the key of the current address: `COALESCE(key = NULLIF(claim, ''),
# FALSE)`. It is one expression because PostgreSQL has no common statistics for two conditions.
VERIFIED = Func(
    *map(F, ("verified_email_key", "email_claim")),
    template="COALESCE(%(expressions)s, ''), FALSE)",
    arg_joiner=" = NULLIF(",
    output_field=BooleanField(),
)


_READ = 2000  # users that are read at once
# Keys of one condition. A statement may have two such conditions, each twice: for the rows and for
# their number. SQLite takes 32,766 parameters, and PostgreSQL 65,535.
MOST = 8000
_TOO_MANY = phrase(
    "The list cannot be filtered by this: it is not a column of the users, and too many are to be"
    " selected."
)


def containing(text: str, using: str) -> Q:
    """The condition that the account's name, address or username contains the text."""
    if connections[using].vendor == "postgresql":
        return Q(Contains(TEXTS, Lower(Value(text))))
    return sql.containing(text, *COLUMNS, using=using)


def suspended() -> Q:
    """Accounts of users who are not active, as `Person.active` says."""
    if host().active:
        return user_has(**{host().active: False})
    flagged = Q(active=False)
    if inspect.getattr_static(host().model, "is_active", False) is True:
        return flagged  # the value of Django's base class: the model itself says nothing
    return flagged | Q(pk__in=_keys("is_active", value=False, name="active"))


def super_admins() -> Q:
    """Accounts of super admins, as `Person.is_super_admin` says: by our flag or by the host's. A
    UNION of few rows of each table, since no index covers both."""
    flagged = Q(is_super_admin=True)
    column = host().superuser
    if column:
        accounts = Account.objects.using(databases.primary())
        superusers = accounts.filter(user_has(**{column: True})).values("pk")
        return Q(pk__in=accounts.filter(flagged).values("pk").union(superusers, all=True))
    if inspect.getattr_static(host().model, "is_superuser", None) is None:
        return flagged
    return flagged | Q(pk__in=_keys("is_superuser", value=True, name="is_super_admin"))


def user_has(**values: Any) -> Q:
    """A condition on the host's row. A subquery, since a database may read all users for a join."""
    users = host().model._base_manager.using(databases.primary())
    return Q(Exists(users.filter(pk=OuterRef("pk"), **values).order_by()))


def _keys(flag: str, *, value: bool, name: str) -> list[Any]:
    """The keys of the users for whom the model's answer to `flag` is `value`. Raises
    `ValidationFailed` for the filter `name` if a statement cannot have all of them as
    parameters."""
    users = host().model._base_manager.using(databases.primary()).order_by("pk")
    keys = []
    for user in users.iterator(chunk_size=_READ):
        if user_model.grants(user, flag) is value:
            keys.append(user.pk)
            if len(keys) > MOST:
                raise invalid(name, _TOO_MANY)
    return keys
