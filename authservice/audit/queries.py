"""Reading the log: one part of it, and how many entries there are in all, up to a cap.

Whom an entry concerns is who did it or whom it was done to. Asked for as one condition, that takes
the database through all entries of that person; as two ordered parts put together, each walks along
its own index no further than the page. What narrows a list to a time narrows the ids.

Such a walk is short where much matches, and leads past all entries of a person where nothing does.
Databases know how common an actor and an action are, and not that they never meet: so what has no
index of its own is first looked for without an order, as `FEW` tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connections
from django.db.models import Q, QuerySet
from django.db.models.expressions import OrderBy
from django.db.models.functions import Coalesce

from authservice.audit.models import Entry
from authservice.kernel import actions, databases
from authservice.kernel.paging import Page
from authservice.kernel.sql import planned_for_values
from authservice.kernel.uuid7 import least

# Counting costs as much as what is counted: nobody leafs through more than this.
COUNTED = 10_000
# So many entries are found and put in order sooner than they are met in an order.
FEW = 1_000


@dataclass(frozen=True, kw_only=True)
class EntryFilter:
    """Which entries are wanted; what is None or empty narrows nothing.

    `action` is as `actions.named` takes it, `since` is included and `until` is not, both aware.
    """

    action: str = ""
    severity: str = ""
    topic: str = ""
    actor_id: str = ""
    target_id: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def names(self) -> list[str]:
        """The actions that are meant: those that are ever as grave as is asked for."""
        named = actions.named(self.action) if self.action else []
        grave = self.severity
        return [name for name in named if not grave or actions.ACTIONS[name].severity == grave]

    @property
    def people(self) -> int:
        return bool(self.actor_id) + bool(self.target_id)

    @property
    def kinds(self) -> int:
        return bool(self.action) + bool(self.severity) + bool(self.topic)


def page_of(page: Page, narrowed: EntryFilter) -> tuple[list[Entry], int]:
    """The entries on a page, and how many there are on all pages."""
    return _part(page, [_matching(narrowed)], narrowed, people=narrowed.people)


def page_of_user(user_id: str, page: Page, narrowed: EntryFilter) -> tuple[list[Entry], int]:
    """The same of those that the user did or that were done to the user."""
    found = _matching(narrowed)
    done_by = Q(actor_id=user_id)
    done_to = Q(target_id=user_id, target_type="user") & ~done_by
    parts = [found.filter(done_by), found.filter(done_to)]
    return _part(page, parts, narrowed, people=1 + narrowed.people)


def _part(
    page: Page, parts: Sequence[QuerySet[Entry]], narrowed: EntryFilter, *, people: int
) -> tuple[list[Entry], int]:
    with planned_for_values(parts[0].db):
        return _found(page, parts, narrowed, people=people)


def _found(
    page: Page, parts: Sequence[QuerySet[Entry]], narrowed: EntryFilter, *, people: int
) -> tuple[list[Entry], int]:
    order, end = _order(page, narrowed), page.offset + page.limit
    counted = _count(parts) if _may_be_sparse(order, narrowed, people) else None
    walked = counted is None or counted > FEW
    # One more than is shown says whether the list goes on.
    rows = list(_together(parts, order, end + 1, walked=walked)[page.offset : end + 1])
    if counted is None:
        if len(rows) <= page.limit and (rows or not page.offset):
            return rows, page.offset + len(rows)
        counted = _count(parts, "-id")
    return rows[: page.limit], max(counted, page.offset + len(rows)) if rows else counted


def _may_be_sparse(order: tuple[str, ...], narrowed: EntryFilter, people: int) -> bool:
    """Whether no index leads to what is wanted of somebody in this order."""
    if not people or people + narrowed.kinds < 2:
        return False
    by_time, of_target = len(order) == 1, bool(narrowed.target_id)
    indexed = people + narrowed.kinds == 2 and len(narrowed.names) < 2 and not of_target
    return not (indexed and by_time)


def _count(parts: Sequence[QuerySet[Entry]], *order: str) -> int:
    """How many match, at most `COUNTED`; of ids alone, which the index has without the rows."""
    return int(_together([found.values("id") for found in parts], order, COUNTED).count())


def _together(
    parts: Sequence[QuerySet[Any, Any]], order: tuple[str, ...], most: int, *, walked: bool = True
) -> QuerySet[Any, Any]:
    """The first entries of all parts, which share none; unless `walked`, all that match are found
    first and then put in order."""
    within = order if walked else tuple(map(_hidden, order))
    ordered = [rows.order_by(*within)[:most] for rows in parts]
    if len(ordered) == 1:
        return ordered[0]
    if not connections[parts[0].db].features.supports_slicing_ordering_in_compound:
        return (parts[0] | parts[1]).order_by(*within)[:most]
    return ordered[0].union(*ordered[1:], all=True).order_by(*order)[:most]


def _hidden(name: str) -> OrderBy:
    """The same order as an expression that no index has."""
    field = name.removeprefix("-")
    return OrderBy(Coalesce(field, field), descending=name != field)


def _order(page: Page, narrowed: EntryFilter) -> tuple[str, ...]:
    """By the id alone where all that match have the same of what is sorted by."""
    severities = {actions.ACTIONS[name].severity for name in narrowed.names}
    same = page.sort_field == "severity" and len(severities) == 1
    if same or page.sort_field == "created_at":
        return page.order("id")[:1]
    return page.order(tie="id")


def _matching(narrowed: EntryFilter) -> QuerySet[Entry]:
    rows = Entry.objects.using(databases.primary())
    return rows.filter(*_conditions(narrowed))


def _conditions(narrowed: EntryFilter) -> Iterator[Q]:
    if narrowed.action:
        yield Q(action__in=narrowed.names)
    for name in ("severity", "topic", "actor_id", "target_id"):
        wanted: Any = getattr(narrowed, name)
        if wanted:
            yield Q(**{name: wanted})
    if narrowed.since:
        yield Q(pk__gte=least(narrowed.since))
    if narrowed.until:
        yield Q(pk__lt=least(narrowed.until))
