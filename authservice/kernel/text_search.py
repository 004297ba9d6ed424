"""Search for a part of a text in upper or lower case, on SQLite also of characters such as Ö."""

from __future__ import annotations

import re

from django.db import connections
from django.db.models import Q


def containing(text: str, *columns: str, using: str) -> Q:
    """The condition that one of the columns contains the text; `using` is the database alias."""
    if connections[using].vendor == "sqlite":
        # Its LIKE ignores case for ASCII only; `iregex` runs in Python.
        return _any_of(columns, "iregex", re.escape(text))
    return _any_of(columns, "icontains", text)


def _any_of(columns: tuple[str, ...], lookup: str, wanted: str) -> Q:
    return Q(*((f"{column}__{lookup}", wanted) for column in columns), _connector=Q.OR)
