"""The list of users: sorted by the accounts' indexed copies; the values are of the host's rows.

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
from authservice.core.users import flag_conditions, search
from authservice.core.users import person as people
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import databases
from authservice.kernel.paging import Page
from authservice.kernel.sql import planned_for_values

LARGE = 100_000  # a table of more users is large; in a smaller one, all matches are counted
COUNTED = 1_000  # in a large table, matches are counted up to this number
READ_PER_ROW = 150  # index entries to read for each row: enough if one user in fifty matches
# The number of users as of the last ANALYZE; -1 before the first one.
_SIZE = "SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass"
Listed = tuple[list[Any], int]  # rows of `_in_order`, and the total


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
    found, everyone = matching(filters), filters == UserFilter()
    connection = connections[found.db]
    if connection.vendor != "postgresql":
        return _with_total(page.cut(_in_order(found, page)), found, page)
    size = RawSQL(_SIZE, [connection.ops.quote_name(Account._meta.db_table)])  # noqa: S611
    first = found if everyone else found.filter(_near_start(page, filters))
    rows = list(page.cut(_in_order(first, page).annotate(size=size)))
    if len(rows) == page.limit:
        return rows, _total(found, page, size=rows[0][-1], everyone=everyone)
    rest = page.cut(_in_order(found, page)) if everyone else _sorted(found, page)
    return _with_total(rest, found, page)


def _in_order(accounts: QuerySet[Account], page: Page) -> QuerySet[Any, Any]:
    columns = people.columns(user="user__", account="")
    return accounts.order_by(*page.order(tie="user_id")).values_list(*columns)


def _near_start(page: Page, filters: UserFilter) -> Q:
    """The condition that a row is among the first entries of the sort index; false for every row
    if the index has no more entries than that."""
    # In a list sorted by creation time, the time limits bound the part of the index to read.
    span = _span(filters) if page.sort_field == "created_at" else Q()
    entries = all_accounts().filter(span).order_by(*page.order(tie="user_id"))
    end = 2 * page.offset + READ_PER_ROW * page.limit
    last = Subquery(entries.values(page.sort_field)[end : end + 1])
    return Q((f"{page.sort_field}__{'gte' if page.sort_dir == 'desc' else 'lte'}", last))


def _sorted(found: QuerySet[Account], page: Page) -> QuerySet[Any, Any]:
    """The page, from sorting all matches. No index has the sort expression, so PostgreSQL finds
    them by the index of the filter. It would otherwise read a long part of the sort index."""
    value, tie = Coalesce(page.sort_field, page.sort_field), page.order(tie="user_id")[1]
    keys = found.order_by(value.desc() if page.sort_dir == "desc" else value, tie).values("pk")
    return _in_order(all_accounts().filter(pk__in=page.cut(keys)), page)


def _total(found: QuerySet[Account], page: Page, *, size: int, everyone: bool) -> int:
    if size <= LARGE:
        return found.count()
    counted = size if everyone else found[: COUNTED + 1].count()
    return counted if counted <= COUNTED else max(counted, page.offset + page.limit + 1)


def _with_total(rows: QuerySet[Any, Any], found: QuerySet[Account], page: Page) -> Listed:
    # A plain function, not the aggregate, which would add GROUP BY. The key is not always a number.
    number = Func(F("pk"), function="COUNT", output_field=IntegerField())
    read = list(rows.annotate(total=Subquery(found.annotate(number=number).values("number"))))
    # The total is a column of the rows, so an empty page needs a query of its own.
    return read, read[0][-1] if read else found.count() if page.offset else 0


def all_accounts() -> QuerySet[Account]:
    return Account.objects.using(databases.primary())


def matching(filters: UserFilter) -> QuerySet[Account]:
    before = filters.last_login_before
    flags: tuple[tuple[bool | None, Callable[[], Q]], ...] = (
        (filters.active, lambda: ~flag_conditions.suspended()),
        (filters.email_verified, lambda: Q(search.VERIFIED)),
        (filters.is_super_admin, flag_conditions.super_admins),
    )
    return all_accounts().filter(
        _span(filters),
        search.containing(filters.query, databases.primary()) if filters.query else Q(),
        flag_conditions.user_has(last_login__lt=before) if before else Q(),
        *(having() if wanted else ~having() for wanted, having in flags if wanted is not None),
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
