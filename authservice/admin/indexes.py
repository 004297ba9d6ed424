"""Indexes that the list of users wants on PostgreSQL and no migration may make.

One needs an extension, some are on the host's own table, all are built while others write. None of
them is needed for a right answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connections

from authservice.admin import search
from authservice.core.models import Account
from authservice.core.users.user_model import host


@dataclass(frozen=True)
class Index:
    """`what` follows the table's name; of an expression `sampled` says how finely to sample it."""

    name: str
    table: str
    what: str
    sampled: int = 0
    extension: str = ""

    @property
    def making(self) -> str:
        # Nobody is kept from writing meanwhile.
        return f"CREATE INDEX CONCURRENTLY {self.name} ON {self.table} {self.what}"

    @property
    def sampling(self) -> str:
        return f"ALTER INDEX {self.name} ALTER COLUMN 1 SET STATISTICS {self.sampled}"


def wanted(using: str) -> list[Index]:
    """Those for searches, for verified addresses and for what the host's own table says."""
    quote = connections[using].ops.quote_name
    accounts = quote(Account._meta.db_table)
    texts = search.expression(map(quote, search.COLUMNS))
    # Of a thousand texts rather than a hundred the planner can tell a rare one from a common one.
    gin = f"USING gin ({texts} gin_trgm_ops)"
    trigrams = Index(search.INDEX, accounts, gin, sampled=1000, extension="pg_trgm")
    proven = search.proven(*map(quote, search.PROOFS))
    verified = Index("authsvc_account_verified", accounts, f"(({proven}))")
    # Last what may be refused for want of an extension.
    return [verified, *_of_flags(using), trigrams]


def _of_flags(using: str) -> list[Index]:
    """Few are suspended or superusers, so these are small."""
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
