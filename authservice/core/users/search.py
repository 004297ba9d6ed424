"""Conditions that an index serves on PostgreSQL, which must have the same expression."""

from __future__ import annotations

from django.db import connections
from django.db.models import BooleanField, F, Func, Q, TextField, Value
from django.db.models.functions import Lower
from django.db.models.lookups import Contains

from authservice.kernel import sql

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


def containing(text: str, using: str) -> Q:
    """The condition that the account's name, address or username contains the text."""
    if connections[using].vendor == "postgresql":
        return Q(Contains(TEXTS, Lower(Value(text))))
    return sql.containing(text, *COLUMNS, using=using)
