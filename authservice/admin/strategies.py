"""Query strategies for a page of users, chosen by PostgreSQL's estimate (EXPLAIN) beforehand.

- Few matches: find all of them by the index of the filter, and sort them.
- Many matches: scan the sort index, but only a bounded part of it. Evenly spread matches fill the
  page soon. If they do not, they are at the far end of the index; then find all and sort them. The
  planner alone would scan the whole sort index, past every user who does not match.
- Nearly all users match, or no index serves the filter: leave it to the planner, which scans the
  sort index.

The total is counted if that is cheap; otherwise it is the planner's estimate. Other databases get
the plain query and a count.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from django.db import connections
from django.db.models import BooleanField, F, Func, IntegerField, QuerySet, Subquery
from django.db.models.expressions import RawSQL

from authservice.core.models import Account
from authservice.core.users import person as people
from authservice.kernel.paging import Page

# Costs are in the planner's units: 1 is one disk page read in sequence. 5,000 take some 20 ms.
CHEAP = 5_000
# Up to so many rows are sorted and counted quickly, however they are found.
MANY = 1_000
# Above this cost, finding and sorting all matches takes as long as scanning the sort index. From
# 100,000 on, PostgreSQL also compiles the statement (`jit_above_cost`), which is slower still.
TOO_EXPENSIVE = 80_000
# Index entries to scan for each wanted row: enough if one user in fifty matches.
SCANNED_PER_ROW = 150

# A plain function, not the aggregate, which would add GROUP BY. The key is not always a number.
_COUNT = Func(F("pk"), function="COUNT", output_field=IntegerField())

Rows = list[tuple[Any, ...]]
Sql = tuple[str, tuple[Any, ...]]


class Plan(NamedTuple):
    """PostgreSQL's estimate for a query."""

    rows: int
    cost: float
    full_scan: bool  # whether no index serves, so that the whole table would be read

    @property
    def is_expensive(self) -> bool:
        return self.cost > CHEAP and self.rows > MANY


def page_of_all(accounts: QuerySet[Account], page: Page) -> tuple[Rows, int]:
    """Rows of `people.columns` for a page of the whole table, and the total."""
    return _with_total(
        accounts, page.cut(accounts.order_by(*_order(page))), page, _plan(accounts, "pk")
    )


def page_of_some(
    found: QuerySet[Account], page: Page, scanned: QuerySet[Account]
) -> tuple[Rows, int]:
    """The same for the matches `found`; `scanned` are the accounts that a scan of the sort index
    reads, matching or not."""
    plan = _plan(found, "pk", page.sort_field)
    if plan is None or plan.full_scan or plan.cost > TOO_EXPENSIVE:
        rows = page.cut(found.order_by(*_order(page)))
    elif plan.rows > MANY:
        rows = _with_keys(_scan_or_sort(found, page, scanned), found, page)
    else:
        rows = _with_keys(_sort(found, page), found, page)
    return _with_total(found, rows, page, plan)


def _with_total(
    found: QuerySet[Account], rows: QuerySet[Account], page: Page, plan: Plan | None
) -> tuple[Rows, int]:
    if plan and plan.is_expensive:
        return _with_estimate(rows, page, plan)
    number = found.order_by().annotate(number=_COUNT)
    total = Subquery(number.values_list("number"))
    read = list(rows.annotate(total=total).values_list(*_columns(), "total"))
    if read or not page.offset:
        return read, read[0][-1] if read else 0
    # The total is a column of the rows, so an empty page needs a query of its own.
    return [], found.count()


def _with_estimate(rows: QuerySet[Account], page: Page, plan: Plan) -> tuple[Rows, int]:
    """The estimate as total, corrected where the page shows the end of the list or more rows."""
    read = list(rows.values_list(*_columns()))
    seen = page.offset + len(read)
    if len(read) < page.limit:
        return read, seen if read or not page.offset else min(plan.rows, page.offset)
    return read, max(plan.rows, seen)


def _order(page: Page) -> tuple[str, ...]:
    return page.order(tie="user_id")


def _with_keys(keys: Sql, found: QuerySet[Account], page: Page) -> QuerySet[Account]:
    """The rows of the page. `keys` selects the keys from the first page to this one."""
    accounts = found.model._base_manager.using(found.db)
    rows = accounts.filter(pk__in=RawSQL(*keys)).order_by(*_order(page))  # noqa: S611
    cut: QuerySet[Account] = page.cut(rows)
    return cut


def _sort(found: QuerySet[Any, Any], page: Page) -> Sql:
    """SQL that finds all matches, sorts them and selects the keys of the first ones."""
    keys = found.order_by().values_list("user_id", page.sort_field)
    sql, params = keys.query.sql_with_params()
    column = connections[found.db].ops.quote_name(page.sort_field)
    sign = "DESC" if page.sort_dir == "desc" else "ASC"
    # OFFSET 0 keeps the planner from scanning the sort index for the matches.
    return (
        f"SELECT user_id FROM ({sql} OFFSET 0) AS everyone"  # noqa: S608 no value of the caller
        f" ORDER BY {column} {sign}, user_id {sign} LIMIT {page.offset + page.limit:d}"
    ), params


def _scan_or_sort(found: QuerySet[Any, Any], page: Page, scanned: QuerySet[Any, Any]) -> Sql:
    """SQL that scans a bounded part of the sort index and, if the matches in it do not fill the
    page, finds and sorts all matches."""
    wanted, order = page.offset + page.limit, _order(page)
    part = scanned.order_by(*order)[: SCANNED_PER_ROW * wanted]
    scan, scan_params = _restricted(found.order_by(*order).values_list("user_id")[:wanted], part)
    sort, sort_params = _sort(found.filter(_not_filled(wanted)), page)
    return (
        f"WITH scanned AS MATERIALIZED ({scan})"  # noqa: S608 no value of the caller
        f" SELECT user_id FROM scanned WHERE (SELECT COUNT(*) FROM scanned) >= {wanted:d}"
        f" UNION ALL ({sort})"
    ), (*scan_params, *sort_params)


def _not_filled(wanted: int) -> RawSQL:
    # References no column of the outer query. PostgreSQL therefore evaluates it once (a one-time
    # filter) and skips the second branch entirely if it is false.
    sql = "(SELECT COUNT(*) FROM scanned) < %s"
    return RawSQL(sql, [wanted], output_field=BooleanField())  # noqa: S611


def _restricted(found: QuerySet[Any, Any], part: QuerySet[Any, Any]) -> Sql:
    """SQL of `found` with the subquery `part` in place of its table: `… FROM accounts WHERE …`
    becomes `… FROM (SELECT … LIMIT 3000) AS accounts WHERE …`."""
    sql, params = found.query.sql_with_params()
    inner, inner_params = part.query.sql_with_params()
    table = connections[found.db].ops.quote_name(found.model._meta.db_table)
    start = f" FROM {table} "
    return sql.replace(start, f" FROM ({inner}) AS {table} ", 1), (*inner_params, *params)


def _plan(found: QuerySet[Account], *columns: str) -> Plan | None:
    """The estimate, or None on other databases than PostgreSQL."""
    if connections[found.db].vendor != "postgresql":
        return None
    plan = json.loads(found.order_by().values(*columns).explain(format="json"))[0]["Plan"]
    return Plan(plan["Plan Rows"], plan["Total Cost"], _has_full_scan(plan))


def _has_full_scan(node: dict[str, Any]) -> bool:
    return node["Node Type"] == "Seq Scan" or any(map(_has_full_scan, node.get("Plans", ())))


def _columns() -> list[str]:
    return people.columns(user="user__", account="")
