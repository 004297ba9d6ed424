"""Ways to the rows of a page, chosen by what PostgreSQL expects before anything is run.

- Few, or quickly found: all are found, counted and sorted, in one statement.
- All there are: along the index of what they are sorted by.
- Many of some: along that index for a while, since those who are spread evenly fill the page soon;
  if they do not, they lie at its far end, and all of them are found by another index and sorted. The
  planner left to itself would go on walking, past everybody else.

Where rows are not counted the planner's expectation is the total.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connections
from django.db.models import BooleanField, Count, F, Func, QuerySet, Subquery, Window
from django.db.models.expressions import RawSQL

from authservice.core import people

if TYPE_CHECKING:
    from authservice.core.models import Account
    from authservice.kernel.http.listing import Page

# In the planner's units, of which a page read in sequence costs one: some 20 milliseconds.
CHEAP = 10_000
# Fewer are sorted and counted quickly whatever it takes to find them.
MANY = 1_000
# How many to pass on the way for each one wanted: enough where one in fifty is meant.
PATIENCE = 150

Rows = list[tuple[Any, ...]]


class Plan(NamedTuple):
    """What the database expects of a query before running it."""

    rows: int
    cost: float

    @property
    def is_dear(self) -> bool:
        return self.cost > CHEAP and self.rows > MANY


def of_all(everybody: QuerySet[Account], page: Page) -> tuple[Rows, int]:
    """Rows of `people.columns` for a page of the whole table, and how many there are in all."""
    plan = _plan(everybody)
    if plan.is_dear:
        rows = list(_sorted(everybody, page).values_list(*_columns()))
        return rows, _total(len(rows), page, plan.rows)
    number = everybody.order_by().annotate(number=Func(F("pk"), function="COUNT"))
    return _counted(everybody, page, Subquery(number.values("number")))


def of_some(
    found: QuerySet[Account], page: Page, begun: QuerySet[Account]
) -> tuple[Rows, int]:
    """The same of those `found`; `begun` are those past whom the index leads."""
    plan = _plan(found)
    if plan.is_dear:
        rows = list(_either(found, page, begun).values_list(*_columns()))
        return rows, _total(len(rows), page, plan.rows)
    return _counted(found, page, Window(Count("*")))


def _counted(found: QuerySet[Account], page: Page, total: Any) -> tuple[Rows, int]:
    rows = list(_sorted(found.annotate(total=total), page).values_list(*_columns(), "total"))
    # No row of the page, no total beside it.
    number = rows[0][-1] if rows else found.count() if page.offset else 0
    return rows, number


def _sorted(found: QuerySet[Account], page: Page) -> QuerySet[Account]:
    ordered: QuerySet[Account] = page.cut(found.order_by(*page.order(tie="user_id")))
    return ordered


def _either(found: QuerySet[Account], page: Page, begun: QuerySet[Account]) -> QuerySet[Account]:
    """The rows of a page, found on a walk that is not too long, or else by sorting all."""
    wanted, order = page.offset + page.limit, page.order(tie="user_id")
    ahead = begun.order_by(*order)[: PATIENCE * wanted]
    walked = found.order_by(*order).values_list("user_id")[:wanted]
    everyone = found.filter(_not_filled(wanted)).order_by().values_list("user_id", page.sort_field)
    column = connections[found.db].ops.quote_name(page.sort_field)
    sign = "DESC" if page.sort_dir == "desc" else "ASC"
    parts = [_among(walked, ahead), everyone.query.sql_with_params()]
    # OFFSET 0 keeps the planner from walking after all.
    sql = (
        "WITH walked AS MATERIALIZED ({})"
        f" SELECT user_id FROM walked WHERE (SELECT COUNT(*) FROM walked) >= {wanted:d}"
        " UNION ALL (SELECT user_id FROM ({} OFFSET 0) AS everyone"
        f" ORDER BY {column} {sign}, user_id {sign} LIMIT {wanted:d})"
    ).format(*(sql for sql, _ in parts))
    of_page = RawSQL(sql, [param for _, params in parts for param in params])  # noqa: S611
    everybody = found.model._base_manager.using(found.db)
    return _sorted(everybody.filter(pk__in=of_page), page)


def _not_filled(wanted: int) -> RawSQL:
    # Knows no column, so that it is judged once and, if it fails, nobody is looked for.
    sql = "(SELECT COUNT(*) FROM walked) < %s"
    return RawSQL(sql, [wanted], output_field=BooleanField())  # noqa: S611


def _among(found: QuerySet[Account], others: QuerySet[Account]) -> tuple[str, tuple[Any, ...]]:
    """SQL for those of the `others`, in their order, who are among the `found`."""
    sql, params = found.query.sql_with_params()
    inner, of_inner = others.query.sql_with_params()
    table = connections[found.db].ops.quote_name(found.model._meta.db_table)
    start = f" FROM {table} "
    return sql.replace(start, f" FROM ({inner}) AS {table} ", 1), (*of_inner, *params)


def _plan(found: QuerySet[Account]) -> Plan:
    """PostgreSQL says beforehand; elsewhere everything is counted."""
    if connections[found.db].vendor != "postgresql":
        return Plan(0, 0)
    told = json.loads(found.order_by().values("pk").explain(format="json"))[0]["Plan"]
    return Plan(told["Plan Rows"], told["Total Cost"])


def _total(shown: int, page: Page, estimate: int) -> int:
    """The estimate, but where the page itself shows the end or more."""
    seen = page.offset + shown
    if shown < page.limit:
        return seen if shown or not page.offset else min(estimate, page.offset)
    return max(estimate, seen)


def _columns() -> list[str]:
    return people.columns(user="user__", account="")
