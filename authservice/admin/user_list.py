"""The list of users: sorted by the accounts' indexed copies; the values are of the host's rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connections
from django.db.models import Exists, F, Func, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce

from authservice.core.models import Account
from authservice.core.users import person as people
from authservice.core.users import search
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
    active, before = host().active, filters.last_login_before
    suspended = _user_has(**{active: False}) if active else Q(active=False)
    flags = (
        (filters.active, ~suspended),
        (filters.email_verified, Q(search.VERIFIED)),
        (filters.is_super_admin, _super_admins()),
    )
    return all_accounts().filter(
        _span(filters),
        search.containing(filters.query, databases.primary()) if filters.query else Q(),
        _user_has(last_login__lt=before) if before else Q(),
        *(having if wanted else ~having for wanted, having in flags if wanted is not None),
    )


def _span(filters: UserFilter) -> Q:
    since = Q(created_at__gte=filters.created_after) if filters.created_after else Q()
    return since & Q(created_at__lt=filters.created_before) if filters.created_before else since


def _user_has(**values: Any) -> Q:
    """A condition on the host's row: a subquery, since for a join a database may read all users."""
    users = host().model._base_manager.using(databases.primary())
    return Q(Exists(users.filter(pk=OuterRef("pk"), **values).order_by()))


def _super_admins() -> Q:
    """By our flag or the host's: a UNION of few rows of each table, since no index covers both."""
    flagged, superuser = Q(is_super_admin=True), host().superuser
    if not superuser:
        return flagged
    superusers = all_accounts().filter(_user_has(**{superuser: True})).values("pk")
    return Q(pk__in=all_accounts().filter(flagged).values("pk").union(superusers, all=True))
