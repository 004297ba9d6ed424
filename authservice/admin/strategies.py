"""Ways to the rows of a page, chosen by what PostgreSQL expects before anything is run.

- Few: all are found by whatever index serves, and sorted.
- Many: along the index of what they are sorted by, for a while, since those who are spread evenly
  fill the page soon; if they do not, they lie at its far end, and all of them are found and sorted.
  The planner left to itself would go on walking, past everybody else.
- Nearly all, or found by no index: as the planner likes, which is along that index.

They are counted where that is cheap, and where it is not, what the planner expects is the total.
Other databases do what they will, and count.
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

# In the planner's units, of which a page read in sequence costs one: some 20 milliseconds.
CHEAP = 5_000
# Fewer are sorted and counted quickly whatever it takes to find them.
MANY = 1_000
# Dearer than this, to sort all of them takes as long as to pass everybody else, and from 100,000
# on PostgreSQL compiles a statement before it runs it (`jit_above_cost`), which takes longer still.
DEAREST = 80_000
# How many to pass on the way for each one wanted: enough where one in fifty is meant.
PATIENCE = 150

# A plain one, not the aggregate, which would ask for groups; the key is not always a number.
_COUNT = Func(F("pk"), function="COUNT", output_field=IntegerField())

Rows = list[tuple[Any, ...]]
Sql = tuple[str, tuple[Any, ...]]


class Plan(NamedTuple):
    """What PostgreSQL expects of a query before running it."""

    rows: int
    cost: float
    whole: bool  # whether no index serves, so that all there are would be looked at

    @property
    def is_dear(self) -> bool:
        return self.cost > CHEAP and self.rows > MANY


def of_all(everybody: QuerySet[Account], page: Page) -> tuple[Rows, int]:
    """Rows of `people.columns` for a page of the whole table, and how many there are in all."""
    return _told(
        everybody, page.cut(everybody.order_by(*_order(page))), page, _plan(everybody, "pk")
    )


def of_some(found: QuerySet[Account], page: Page, begun: QuerySet[Account]) -> tuple[Rows, int]:
    """The same of those `found`; `begun` are those past whom the index leads."""
    plan = _plan(found, "pk", page.sort_field)
    if plan is None or plan.whole or plan.cost > DEAREST:
        rows = page.cut(found.order_by(*_order(page)))
    elif plan.rows > MANY:
        rows = _these(_either(found, page, begun), found, page)
    else:
        rows = _these(_first(found, page), found, page)
    return _told(found, rows, page, plan)


def _told(
    found: QuerySet[Account], rows: QuerySet[Account], page: Page, plan: Plan | None
) -> tuple[Rows, int]:
    if plan and plan.is_dear:
        return _expected(rows, page, plan)
    number = found.order_by().annotate(number=_COUNT)
    total = Subquery(number.values_list("number"))
    told = list(rows.annotate(total=total).values_list(*_columns(), "total"))
    if told or not page.offset:
        return told, told[0][-1] if told else 0
    # No row of the page, no total beside it.
    return [], found.count()


def _expected(rows: QuerySet[Account], page: Page, plan: Plan) -> tuple[Rows, int]:
    """The estimate for a total, but where the page itself shows the end or more."""
    told = list(rows.values_list(*_columns()))
    seen = page.offset + len(told)
    if len(told) < page.limit:
        return told, seen if told or not page.offset else min(plan.rows, page.offset)
    return told, max(plan.rows, seen)


def _order(page: Page) -> tuple[str, ...]:
    return page.order(tie="user_id")


def _these(keys: Sql, found: QuerySet[Account], page: Page) -> QuerySet[Account]:
    """The rows of the users with these keys, in order; those of earlier pages are among them."""
    everybody = found.model._base_manager.using(found.db)
    rows = everybody.filter(pk__in=RawSQL(*keys)).order_by(*_order(page))  # noqa: S611
    cut: QuerySet[Account] = page.cut(rows)
    return cut


def _first(found: QuerySet[Any, Any], page: Page) -> Sql:
    """The keys of those who come first, of all that are found."""
    keys = found.order_by().values_list("user_id", page.sort_field)
    sql, params = keys.query.sql_with_params()
    column = connections[found.db].ops.quote_name(page.sort_field)
    sign = "DESC" if page.sort_dir == "desc" else "ASC"
    # OFFSET 0 keeps the planner from looking for them along the order.
    return (
        f"SELECT user_id FROM ({sql} OFFSET 0) AS everyone"  # noqa: S608 no value of a caller's
        f" ORDER BY {column} {sign}, user_id {sign} LIMIT {page.offset + page.limit:d}"
    ), params


def _either(found: QuerySet[Any, Any], page: Page, begun: QuerySet[Any, Any]) -> Sql:
    """The same, found on a walk that is not too long, or else of all that are found."""
    wanted, order = page.offset + page.limit, _order(page)
    ahead = begun.order_by(*order)[: PATIENCE * wanted]
    walked, of_walked = _among(found.order_by(*order).values_list("user_id")[:wanted], ahead)
    first, of_first = _first(found.filter(_not_filled(wanted)), page)
    return (
        f"WITH walked AS MATERIALIZED ({walked})"  # noqa: S608 no value of a caller's
        f" SELECT user_id FROM walked WHERE (SELECT COUNT(*) FROM walked) >= {wanted:d}"
        f" UNION ALL ({first})"
    ), (*of_walked, *of_first)


def _not_filled(wanted: int) -> RawSQL:
    # Knows no column, so that it is judged once and, if it fails, nobody is looked for.
    sql = "(SELECT COUNT(*) FROM walked) < %s"
    return RawSQL(sql, [wanted], output_field=BooleanField())  # noqa: S611


def _among(found: QuerySet[Any, Any], others: QuerySet[Any, Any]) -> Sql:
    """SQL for those of the `others`, in their order, who are among the `found`."""
    sql, params = found.query.sql_with_params()
    inner, of_inner = others.query.sql_with_params()
    table = connections[found.db].ops.quote_name(found.model._meta.db_table)
    start = f" FROM {table} "
    return sql.replace(start, f" FROM ({inner}) AS {table} ", 1), (*of_inner, *params)


def _plan(found: QuerySet[Account], *columns: str) -> Plan | None:
    """None where the database does not say."""
    if connections[found.db].vendor != "postgresql":
        return None
    told = json.loads(found.order_by().values(*columns).explain(format="json"))[0]["Plan"]
    return Plan(told["Plan Rows"], told["Total Cost"], _reads_whole(told))


def _reads_whole(node: dict[str, Any]) -> bool:
    return node["Node Type"] == "Seq Scan" or any(map(_reads_whole, node.get("Plans", ())))


def _columns() -> list[str]:
    return people.columns(user="user__", account="")
