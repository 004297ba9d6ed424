"""Indexes for the list of users on PostgreSQL that no migration can create.

One needs an extension, some are on the host project's table, and all are created concurrently with
writes. They only make the list faster; results are the same without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connections
from django.db.models import Func

from authservice.core.models import Account
from authservice.core.users import search
from authservice.core.users.user_model import host


@dataclass(frozen=True)
class Index:
    """`definition` follows the table name in the SQL; `statistics` is the statistics target of an
    indexed expression, 0 for the default."""

    name: str
    table: str
    definition: str
    statistics: int = 0
    extension: str = ""

    @property
    def create_sql(self) -> str:
        # CONCURRENTLY does not block writes to the table.
        return f"CREATE INDEX CONCURRENTLY {self.name} ON {self.table} {self.definition}"

    @property
    def statistics_sql(self) -> str:
        return f"ALTER INDEX {self.name} ALTER COLUMN 1 SET STATISTICS {self.statistics}"


def wanted(using: str) -> list[Index]:
    """The indexes for searches, for verified addresses and for columns of the host's user
    table."""
    accounts = connections[using].ops.quote_name(Account._meta.db_table)
    # With 1000 sample texts instead of 100 the planner can tell a rare text from a common one.
    gin = f"USING gin ({_sql(search.TEXTS, using)} gin_trgm_ops)"
    trigrams = Index("authsvc_account_search", accounts, gin, statistics=1000, extension="pg_trgm")
    verified = Index("authsvc_account_verified", accounts, f"(({_sql(search.VERIFIED, using)}))")
    # The trigram index comes last: it fails where the extension cannot be created.
    return [verified, *_of_flags(using), trigrams]


def _sql(expression: Func[Any], using: str) -> str:
    """SQL of an expression of `search`, with column names as in an index definition."""
    quote = connections[using].ops.quote_name
    columns = (quote(column.name) for column in expression.get_source_expressions())
    joined = expression.extra["arg_joiner"].join(columns)
    return str(expression.extra["template"] % {"expressions": joined})


def _of_flags(using: str) -> list[Index]:
    """Partial indexes: few users are suspended or superusers, so these are small."""
    quote, known, found = connections[using].ops.quote_name, host(), []
    if known.active:
        users, key, active = _place(known.active, using)
        found.append(Index("authsvc_user_suspended", users, f"({key}) WHERE NOT {active}"))
    else:
        accounts = quote(Account._meta.db_table)
        found.append(Index("authsvc_account_suspended", accounts, "(user_id) WHERE NOT active"))
    if known.superuser:
        users, key, superuser = _place(known.superuser, using)
        found.append(Index("authsvc_user_superuser", users, f"({key}) WHERE {superuser}"))
    users, _key, last_login = _place("last_login", using)
    return [*found, Index("authsvc_user_lastlogin", users, f"({last_login})")]


def _place(name: str, using: str) -> tuple[str, str, str]:
    """The table of a field of the user model, its primary key and the column. The table may be that
    of a parent of the user model (multi-table inheritance)."""
    quote, field = connections[using].ops.quote_name, host().model._meta.get_field(name)
    meta: Any = field.model._meta
    return quote(meta.db_table), quote(meta.pk.column), quote(field.column)
