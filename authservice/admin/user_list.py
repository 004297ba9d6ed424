"""The list of users. Accounts have indexed copies of fields of the host project's users: the list
is sorted by the copies, and shows the values of the host project's own rows.

At the end are the indexes on PostgreSQL that no migration can create: one needs an extension, some
are on the host project's table, and all are created concurrently with writes. They only make the
list faster; results are the same without them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connections
from django.db.models import F, Func, IntegerField, Q, QuerySet, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce

from authservice.core.models import Account
from authservice.core.users import person as people
from authservice.core.users import search
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import databases
from authservice.kernel.interfaces import Page
from authservice.kernel.sql import planned_for_values

LARGE = 100_000  # a table of more users is large; in a smaller one, all matches are counted
COUNTED = 1_000  # in a large table, matches are counted up to this number
READ_PER_ROW = 150  # index entries to read for each row: enough if one user in fifty matches
# The number of users as of the last ANALYZE; -1 before the first one.
_SIZE = "SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass"
Listed = tuple[list[Any], int]  # rows of `_in_order`, perhaps with one more column, and the total


@dataclass(frozen=True, kw_only=True)
class UserFilter:
    """Filters of the list; None or empty means no filter."""

    query: str = ""
    active: bool | None = None
    email_verified: bool | None = None
    is_super_admin: bool | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    last_login_before: datetime | None = None


def page_of(page: Page, filters: UserFilter) -> tuple[list[Person], int]:
    """The users on a page, and the total over all pages."""
    using = databases.primary()
    with planned_for_values(using):
        rows, total = _rows(page, filters)
    return [people.read(row, using) for row in rows], total


def _rows(page: Page, filters: UserFilter) -> Listed:
    accounts = matching(filters)
    unfiltered = filters == UserFilter()
    connection = connections[accounts.db]
    if connection.vendor != "postgresql":
        return _with_total(page.cut(_in_order(accounts, page)), accounts, page)

    # The first entries of the sort index may fill the page.
    size = RawSQL(_SIZE, [connection.ops.quote_name(Account._meta.db_table)])  # noqa: S611
    candidates = accounts if unfiltered else accounts.filter(_near_start(page, filters))
    rows = list(page.cut(_in_order(candidates, page).annotate(size=size)))
    table_size = rows[0][-1] if rows else 0
    if len(rows) == page.limit and table_size <= LARGE:
        return rows, accounts.count()
    if len(rows) == page.limit:
        counted = table_size if unfiltered else accounts[: COUNTED + 1].count()
        # The page is full, so there may be another one.
        lower_bound = max(counted, page.offset + page.limit + 1)
        return rows, counted if counted <= COUNTED else lower_bound
    if unfiltered:
        return _with_total(page.cut(_in_order(accounts, page)), accounts, page)

    # The start of the sort index did not fill the page, so all matches are sorted. No index has the
    # expression `COALESCE(x, x)`, so PostgreSQL finds the matches by the index of the filter.
    # Otherwise it would read a long part of the sort index.
    column = Coalesce(page.sort_field, page.sort_field)
    tie = page.order(tie="user_id")[1]
    keys = accounts.order_by(column.desc() if page.sort_dir == "desc" else column, tie).values("pk")
    page_of_matches = _in_order(all_accounts().filter(pk__in=page.cut(keys)), page)
    return _with_total(page_of_matches, accounts, page)


def _in_order(accounts: QuerySet[Account], page: Page) -> QuerySet[Any, Any]:
    columns = people.columns(user="user__", account="")
    return accounts.order_by(*page.order(tie="user_id")).values_list(*columns)


def _near_start(page: Page, filters: UserFilter) -> Q:
    """The condition that a row is among the first entries of the sort index. It is false for
    every row if the index has too few entries: then there is no entry to compare with."""
    # In a list sorted by creation time, the time limits bound the part of the index to read.
    span = _span(filters) if page.sort_field == "created_at" else Q()
    entries = all_accounts().filter(span).order_by(*page.order(tie="user_id"))
    end = 2 * page.offset + READ_PER_ROW * page.limit
    last = Subquery(entries.values(page.sort_field)[end : end + 1])
    return Q((f"{page.sort_field}__{'gte' if page.sort_dir == 'desc' else 'lte'}", last))


def _with_total(rows: QuerySet[Any, Any], accounts: QuerySet[Account], page: Page) -> Listed:
    # `Func` and not the aggregate `Count`, which would add GROUP BY. Without `output_field` the
    # number would have the type of the key, which is not always a number.
    number = Func(F("pk"), function="COUNT", output_field=IntegerField())
    total = Subquery(accounts.annotate(number=number).values("number"))
    page_rows = list(rows.annotate(total=total))
    if page_rows:
        return page_rows, page_rows[0][-1]
    # The total is a column of the rows, so an empty page needs a query of its own.
    return [], accounts.count() if page.offset else 0


def all_accounts() -> QuerySet[Account]:
    return Account.objects.using(databases.primary())


def matching(filters: UserFilter) -> QuerySet[Account]:
    before = filters.last_login_before
    flags: tuple[tuple[bool | None, Callable[[], Q]], ...] = (
        (filters.active, lambda: ~search.suspended()),
        (filters.email_verified, lambda: Q(search.VERIFIED)),
        (filters.is_super_admin, search.super_admins),
    )
    return all_accounts().filter(
        _span(filters),
        search.containing(filters.query, databases.primary()) if filters.query else Q(),
        search.user_has(last_login__lt=before) if before else Q(),
        *(
            condition() if value else ~condition()
            for value, condition in flags
            if value is not None
        ),
    )


def _span(filters: UserFilter) -> Q:
    since = Q(created_at__gte=filters.created_after) if filters.created_after else Q()
    return since & Q(created_at__lt=filters.created_before) if filters.created_before else since


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


def wanted_indexes(using: str) -> list[Index]:
    """The indexes for searches, for verified addresses and for columns of the host's user
    table."""
    account_table = connections[using].ops.quote_name(Account._meta.db_table)
    verified = f"(({_sql(search.VERIFIED, using)}))"
    indexes = [Index("authsvc_account_verified", account_table, verified)]

    # Partial indexes: few users are suspended or superusers, so these are small.
    fields = host()
    if fields.active:
        user_table, key, active = _place(fields.active, using)
        indexes.append(Index("authsvc_user_suspended", user_table, f"({key}) WHERE NOT {active}"))
    else:
        suspended = "(user_id) WHERE NOT active"
        indexes.append(Index("authsvc_account_suspended", account_table, suspended))
    if fields.superuser:
        user_table, key, superuser = _place(fields.superuser, using)
        indexes.append(Index("authsvc_user_superuser", user_table, f"({key}) WHERE {superuser}"))
    user_table, _key, last_login = _place("last_login", using)
    indexes.append(Index("authsvc_user_lastlogin", user_table, f"({last_login})"))

    # The trigram index comes last: it fails where the extension cannot be created. With 1000 sample
    # texts instead of 100 the planner can tell a rare text from a common one.
    gin = f"USING gin ({_sql(search.TEXTS, using)} gin_trgm_ops)"
    trigrams = Index(
        "authsvc_account_search", account_table, gin, statistics=1000, extension="pg_trgm"
    )
    return [*indexes, trigrams]


def _sql(expression: Func[Any], using: str) -> str:
    """SQL of an expression of `search`, with column names as in an index definition."""
    quote = connections[using].ops.quote_name
    columns = (quote(column.name) for column in expression.get_source_expressions())
    joined = expression.extra["arg_joiner"].join(columns)
    return str(expression.extra["template"] % {"expressions": joined})


def _place(name: str, using: str) -> tuple[str, str, str]:
    """The table of a field of the user model, its primary key and the column. The table may be that
    of a parent of the user model (multi-table inheritance)."""
    quote, field = connections[using].ops.quote_name, host().model._meta.get_field(name)
    meta: Any = field.model._meta
    return quote(meta.db_table), quote(meta.pk.column), quote(field.column)
