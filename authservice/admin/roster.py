"""The list of users: one part of it, and how many there are in all.

Sorting goes by the accounts' own indexed copies; what is told of each user is read from the host's
row. How many there are is counted as long as that is cheap, which the database's own planner says
beforehand; where it is not, its estimate is the total.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from django.db import connections
from django.db.models import Count, F, Func, Q, QuerySet, Subquery, Window

from authservice.admin import search
from authservice.core import directory, people
from authservice.core.host import host
from authservice.core.models import Account
from authservice.core.people import Person

if TYPE_CHECKING:
    from authservice.kernel.http.listing import Page

# In the planner's units, of which a page read in sequence costs one: some 20 milliseconds.
CHEAP = 10_000
# Of so many rows a part is found quickly by walking along the order, and fewer are counted quickly.
MANY = 1_000


@dataclass(frozen=True, kw_only=True)
class Narrowed:
    """Which users are wanted; what is None or empty narrows nothing."""

    query: str = ""
    active: bool | None = None
    email_verified: bool | None = None
    is_super_admin: bool | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    last_login_before: datetime | None = None


class Plan(NamedTuple):
    """What the database expects of a query before running it."""

    rows: int
    cost: float


def part(page: Page, narrowed: Narrowed) -> tuple[list[Person], int]:
    """The people on a page, and how many there are on all pages."""
    found = matching(narrowed)
    plan = _plan(found)
    if plan.cost > CHEAP and plan.rows > MANY:
        rows = list(walked(found, page))
        return _people(rows), _total(len(rows), page, plan.rows)
    rows = list(counted(found, page, whole=narrowed == Narrowed()))
    # No row of the page, no total beside it.
    total = rows[0][-1] if rows else found.count() if page.offset else 0
    return _people(rows), total


def matching(narrowed: Narrowed) -> QuerySet[Account]:
    using = directory.database()
    conditions = [condition for condition in _conditions(narrowed, using) if condition]
    return Account.objects.using(using).filter(*conditions)


def walked(found: QuerySet[Account], page: Page) -> QuerySet[Any, Any]:
    """The rows of a page alone, along the index of what they are sorted by."""
    ordered = found.order_by(*page.order(tie="user_id"))
    return cast(QuerySet[Any, Any], page.cut(ordered.values_list(*_columns())))


def counted(found: QuerySet[Account], page: Page, *, whole: bool) -> QuerySet[Any, Any]:
    """The rows of a page, each with the number of all: of the `whole` table counted in an index,
    of a part of it in the same go as the rows are found."""
    total: Any = Window(Count("*"))
    if whole:
        number = Func(F("pk"), function="COUNT")
        total = Subquery(found.order_by().annotate(number=number).values("number"))
    ordered = found.annotate(total=total).order_by(*page.order(tie="user_id"))
    return cast(QuerySet[Any, Any], page.cut(ordered.values_list(*_columns(), "total")))


def _conditions(narrowed: Narrowed, using: str) -> Iterator[Q]:
    active, superuser = host().active, host().superuser
    if narrowed.query:
        yield search.holding(narrowed.query, using)
    if narrowed.active is not None:
        yield Q(**{f"user__{active}" if active else "active": narrowed.active})
    if narrowed.email_verified is not None:
        verified = Q(verified_email_key=F("email_claim")) & ~Q(email_claim="")
        yield verified if narrowed.email_verified else ~verified
    if narrowed.is_super_admin is not None:
        may = Q(is_super_admin=True)
        may |= Q(**{f"user__{superuser}": True}) if superuser else Q()
        yield may if narrowed.is_super_admin else ~may
    if narrowed.created_after:
        yield Q(created_at__gte=narrowed.created_after)
    if narrowed.created_before:
        yield Q(created_at__lt=narrowed.created_before)
    if narrowed.last_login_before:
        yield Q(user__last_login__lt=narrowed.last_login_before)


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


def _people(rows: list[Any]) -> list[Person]:
    using = directory.database()
    return [people.read(row, using) for row in rows]
