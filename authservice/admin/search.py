"""Conditions that an index can serve on PostgreSQL: a text anywhere in names and addresses, and a
proven address.

The three texts are searched as one; a line end stands between them, which no search can hold. The
expressions here are those of the indexes, so they cannot part.
"""

from __future__ import annotations

import re
from typing import Any

from django.db import connections
from django.db.models import BooleanField, CharField, F, Func, Q, Value

COLUMNS = ("name", "email", "username")
INDEX = "authsvc_account_search"
PROOFS = ("verified_email_key", "email_claim")

_BETWEEN = " || chr(10) || "
_SPECIAL = re.compile(r"([\\%_])")


class Holds(Func):
    """Whether the texts, taken together, hold a pattern of LIKE, in whatever case."""

    output_field = BooleanField()

    def as_sql(self, compiler: Any, connection: Any, **_: Any) -> Any:  # type: ignore[override]
        *texts, pattern = [compiler.compile(part) for part in self.get_source_expressions()]
        params = [param for _, given in (*texts, pattern) for param in given]
        whole = expression(sql for sql, _ in texts)
        return f"{whole} LIKE LOWER({pattern[0]})", params


def expression(texts: Any) -> str:
    """The one text of several, in SQL."""
    return f"LOWER({_BETWEEN.join(texts)})"


class Proven(Func):
    """Whether the key that was proven is that of the present address."""

    output_field = BooleanField()

    def as_sql(self, compiler: Any, connection: Any, **_: Any) -> Any:  # type: ignore[override]
        (key, _), (claim, _) = map(compiler.compile, self.get_source_expressions())
        return proven(key, claim), []


def proven(key: str, claim: str) -> str:
    """In SQL, as one expression: of two conditions the planner knows no statistics in common."""
    return f"COALESCE({key} = NULLIF({claim}, ''), FALSE)"


def verified() -> Q:
    """The condition that an account's present address was proven, on any database."""
    return Q(Proven(*map(F, PROOFS)))


def holding(text: str, using: str) -> Q:
    """The condition that an account's name, address or username holds the text."""
    vendor = connections[using].vendor
    if vendor == "postgresql":
        escaped = _SPECIAL.sub(r"\\\1", text)
        pattern = Value(f"%{escaped}%", output_field=CharField())
        return Q(Holds(*(F(column) for column in COLUMNS), pattern))
    # SQLite itself knows no other case than that of ASCII letters.
    lookup, wanted = ("iregex", re.escape(text)) if vendor == "sqlite" else ("icontains", text)
    conditions = [Q(**{f"{column}__{lookup}": wanted}) for column in COLUMNS]
    return conditions[0] | conditions[1] | conditions[2]
