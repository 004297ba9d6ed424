"""Queries of the log: one page of it, and the number of matching entries up to a cap.

An entry concerns its actor and its target. As one condition with OR, the database reads all entries
of that user. As two sorted queries joined by UNION ALL, each scans its own index no further than
the page. A filter by time becomes a range of ids, since ids are UUIDs version 7.

An index scan is cheap if many rows match, but reads every entry of the user if none does. The
statistics of a database say how common an actor and an action are, but not that they never occur
together. A combination without an index of its own is therefore counted first: up to `FEW` matches
are all read and then sorted.
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
from authservice.kernel import actions
from authservice.kernel.modules import known_actions
from authservice.kernel.paging import Page
from authservice.kernel.sql import planned_for_values
from authservice.kernel.uuid7 import least

# The cap of the total. Counting costs as much as reading the rows that are counted.
COUNTED = 10_000
# Up to this many matches, reading all and sorting them is faster than scanning a sorted index.
FEW = 1_000


@dataclass(frozen=True, kw_only=True)
class EntryFilter:
    """Filters of a list; None or empty means no filter.

    `action` has the form that `actions.named` takes. `since` is inclusive and `until` exclusive;
    both are aware.
    """

    action: str = ""
    severity: str = ""
    category: str = ""
    actor_id: str = ""
    target_id: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def names(self) -> list[str]:
        """The actions that `action` matches, without those of another severity.

        An unknown action may belong to a removed app: its entries match by the whole name.
        """
        if not self.action:
            return []
        known = known_actions()
        names = actions.named(self.action, known) or [self.action]
        if not self.severity:
            return names
        return [it for it in names if it not in known or known[it].severity == self.severity]

    @property
    def users(self) -> int:
        """The number of filters by user."""
        return bool(self.actor_id) + bool(self.target_id)

    @property
    def kinds(self) -> int:
        """The number of filters by the kind of action."""
        return bool(self.action) + bool(self.severity) + bool(self.category)


def page_of(page: Page, filters: EntryFilter) -> tuple[list[Entry], int]:
    """The entries on a page, and the total over all pages."""
    return _planned_page(page, [_matching(filters)], filters, users=filters.users)


def page_of_user(user_id: str, page: Page, filters: EntryFilter) -> tuple[list[Entry], int]:
    """The same for entries whose actor or target is the user."""
    found = _matching(filters)
    done_by = Q(actor_id=user_id)
    done_to = Q(target_id=user_id, target_type="user") & ~done_by
    parts = [found.filter(done_by), found.filter(done_to)]
    return _planned_page(page, parts, filters, users=1 + filters.users)


def _planned_page(
    page: Page, parts: Sequence[QuerySet[Entry]], filters: EntryFilter, *, users: int
) -> tuple[list[Entry], int]:
    with planned_for_values(parts[0].db):
        return _page(page, parts, filters, users=users)


def _page(
    page: Page, parts: Sequence[QuerySet[Entry]], filters: EntryFilter, *, users: int
) -> tuple[list[Entry], int]:
    order, end = _order(page, filters), page.offset + page.limit
    counted = _count(parts) if _may_be_sparse(order, filters, users) else None
    by_index = counted is None or counted > FEW
    # One row more than the page, to find out whether there are further pages.
    rows = list(_combined(parts, order, end + 1, by_index=by_index)[page.offset : end + 1])
    if counted is None:
        if len(rows) <= page.limit and (rows or not page.offset):
            return rows, page.offset + len(rows)
        counted = _count(parts, "-id")
    return rows[: page.limit], max(counted, page.offset + len(rows)) if rows else counted


def _may_be_sparse(order: tuple[str, ...], filters: EntryFilter, users: int) -> bool:
    """Whether the list filters by user and no index serves the filters in this order."""
    if not users or users + filters.kinds < 2:
        return False
    by_time, of_target = len(order) == 1, bool(filters.target_id)
    indexed = users + filters.kinds == 2 and len(filters.names) < 2 and not of_target
    return not (indexed and by_time)


def _count(parts: Sequence[QuerySet[Entry]], *order: str) -> int:
    """The number of matches, at most `COUNTED`. Only ids are selected: the index has them."""
    return int(_combined([found.values("id") for found in parts], order, COUNTED).count())


def _combined(
    parts: Sequence[QuerySet[Any, Any]],
    order: tuple[str, ...],
    limit: int,
    *,
    by_index: bool = True,
) -> QuerySet[Any, Any]:
    """The first rows of all parts, which have no row in common.

    With `by_index` the database may scan a sorted index; without, it reads all matches and sorts
    them.
    """
    within = order if by_index else tuple(map(_unindexed, order))
    ordered = [rows.order_by(*within)[:limit] for rows in parts]
    if len(ordered) == 1:
        return ordered[0]
    if not connections[parts[0].db].features.supports_slicing_ordering_in_compound:
        return (parts[0] | parts[1]).order_by(*within)[:limit]
    return ordered[0].union(*ordered[1:], all=True).order_by(*order)[:limit]


def _unindexed(name: str) -> OrderBy:
    """The same order as an expression that no index has: `COALESCE(id, id) DESC` for `-id`."""
    field = name.removeprefix("-")
    return OrderBy(Coalesce(field, field), descending=name != field)


def _order(page: Page, filters: EntryFilter) -> tuple[str, ...]:
    """By id alone if all matches have the same value of the sort field."""
    known = known_actions()
    severities = {known[it].severity if it in known else None for it in filters.names}
    same = page.sort_field == "severity" and len(severities) == 1
    if same or page.sort_field == "created_at":
        return page.order("id")[:1]
    return page.order(tie="id")


def _matching(filters: EntryFilter) -> QuerySet[Entry]:
    return Entry.objects.filter(*_conditions(filters))


def _conditions(filters: EntryFilter) -> Iterator[Q]:
    if filters.action:
        yield Q(action__in=filters.names)
    for column, wanted in (
        ("severity", filters.severity),
        ("topic", filters.category),
        ("actor_id", filters.actor_id),
        ("target_id", filters.target_id),
    ):
        if wanted:
            yield Q(**{column: wanted})
    if filters.since:
        yield Q(pk__gte=least(filters.since))
    if filters.until:
        yield Q(pk__lt=least(filters.until))
