"""Conditions that an index can serve on PostgreSQL: a text anywhere in names and addresses, and a
verified address.

The three texts are searched as one. They are joined by a line feed, which no search text can
contain, so no match spans two of them. The indexes use the same expressions as the queries, so that
PostgreSQL recognises them.
"""

from __future__ import annotations

import re
from typing import Any

from django.db import connections
from django.db.models import BooleanField, CharField, F, Func, Q, Value

COLUMNS = ("name", "email", "username")
INDEX = "authsvc_account_search"
VERIFIED_COLUMNS = ("verified_email_key", "email_claim")

_BETWEEN = " || chr(10) || "
_SPECIAL = re.compile(r"([\\%_])")


class Contains(Func):
    """Whether the joined texts match a LIKE pattern, ignoring case."""

    output_field = BooleanField()

    def as_sql(self, compiler: Any, connection: Any, **_: Any) -> Any:  # type: ignore[override]
        *texts, pattern = [compiler.compile(part) for part in self.get_source_expressions()]
        params = [param for _, given in (*texts, pattern) for param in given]
        whole = expression(sql for sql, _ in texts)
        return f"{whole} LIKE LOWER({pattern[0]})", params


def expression(texts: Any) -> str:
    """SQL of the joined lower-case text: `LOWER(name || chr(10) || email || …)`."""
    return f"LOWER({_BETWEEN.join(texts)})"


class Verified(Func):
    """Whether the verified key is the key of the current address."""

    output_field = BooleanField()

    def as_sql(self, compiler: Any, connection: Any, **_: Any) -> Any:  # type: ignore[override]
        (key, _), (claim, _) = map(compiler.compile, self.get_source_expressions())
        return verified_sql(key, claim), []


def verified_sql(key: str, claim: str) -> str:
    """SQL of the condition as one expression: for two conditions the planner would have no common
    statistics."""
    return f"COALESCE({key} = NULLIF({claim}, ''), FALSE)"


def verified() -> Q:
    """The condition that the account's current address is verified, on any database."""
    return Q(Verified(*map(F, VERIFIED_COLUMNS)))


def containing(text: str, using: str) -> Q:
    """The condition that the account's name, address or username contains the text."""
    vendor = connections[using].vendor
    if vendor == "postgresql":
        escaped = _SPECIAL.sub(r"\\\1", text)
        pattern = Value(f"%{escaped}%", output_field=CharField())
        return Q(Contains(*(F(column) for column in COLUMNS), pattern))
    # SQLite's LIKE ignores case for ASCII letters only; `iregex` runs in Python.
    lookup, wanted = ("iregex", re.escape(text)) if vendor == "sqlite" else ("icontains", text)
    conditions = [Q(**{f"{column}__{lookup}": wanted}) for column in COLUMNS]
    return conditions[0] | conditions[1] | conditions[2]
