"""Indexes for the list of users on PostgreSQL that no migration can create.

One needs an extension, some are on the host project's table, and all are created concurrently with
writes. They only make the list faster; results are the same without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connections
from django.db.models import Func

from authservice.admin import search
from authservice.core.models import Account
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
    quote = connections[using].ops.quote_name
    known, key = host(), quote(_column("pk"))
    users, accounts = quote(known.model._meta.db_table), quote(Account._meta.db_table)
    found = []
    if known.active:
        active = quote(_column(known.active))
        found.append(Index("authsvc_user_suspended", users, f"({key}) WHERE NOT {active}"))
    else:
        found.append(Index("authsvc_account_suspended", accounts, "(user_id) WHERE NOT active"))
    if known.superuser:
        superuser = quote(_column(known.superuser))
        found.append(Index("authsvc_user_superuser", users, f"({key}) WHERE {superuser}"))
    last_login = quote(_column("last_login"))
    return [*found, Index("authsvc_user_lastlogin", users, f"({last_login})")]


def _column(name: str) -> str:
    meta: Any = host().model._meta
    return str((meta.pk if name == "pk" else meta.get_field(name)).column)
