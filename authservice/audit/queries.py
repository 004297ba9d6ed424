"""Queries of the log: one page of it, and the number of matching entries up to a cap.

An entry concerns its actor and its target. For one condition with OR, the database would read all
entries of a user. So there are two sorted queries, joined by UNION ALL: each scans its own index,
and no further than the page. A filter by time becomes a range of ids, since ids are UUIDs version
7.

An index scan is cheap if many rows match, but reads every entry of the user if none does. The
statistics of a database say how common an actor and an action are, but not that they never occur
together. A combination without an index of its own is therefore counted first: up to `FEW` matches
are all read and then sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connections
from django.db.models import Q, QuerySet
from django.db.models.expressions import OrderBy
from django.db.models.functions import Coalesce

from authservice.audit.models import Entry
from authservice.kernel import actions
from authservice.kernel.clock import least_uuid7
from authservice.kernel.interfaces import Page
from authservice.kernel.modules import known_actions
from authservice.kernel.sql import planned_for_values

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
        by_name = known_actions()
        names = actions.named(self.action, by_name) or [self.action]
        if not self.severity:
            return names
        return [
            name for name in names if name not in by_name or by_name[name].severity == self.severity
        ]

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
    return _page(page, [_matching(filters)], filters, users=filters.users)


def page_of_user(user_id: str, page: Page, filters: EntryFilter) -> tuple[list[Entry], int]:
    """The entries on a page whose actor or target is the user, and their total over all pages."""
    entries = _matching(filters)
    done_by = Q(actor_id=user_id)
    done_to = Q(target_id=user_id, target_type="user") & ~done_by
    parts = [entries.filter(done_by), entries.filter(done_to)]
    return _page(page, parts, filters, users=1 + filters.users)


def _matching(filters: EntryFilter) -> QuerySet[Entry]:
    conditions = [Q(action__in=filters.names)] if filters.action else []
    for column, value in (
        ("severity", filters.severity),
        ("topic", filters.category),
        ("actor_id", filters.actor_id),
        ("target_id", filters.target_id),
    ):
        if value:
            conditions.append(Q(**{column: value}))
    if filters.since:
        conditions.append(Q(pk__gte=least_uuid7(filters.since)))
    if filters.until:
        conditions.append(Q(pk__lt=least_uuid7(filters.until)))
    return Entry.objects.filter(*conditions)


def _page(
    page: Page, parts: Sequence[QuerySet[Entry]], filters: EntryFilter, *, users: int
) -> tuple[list[Entry], int]:
    """`parts` have no row in common; `users` is the number of filters by user."""
    # Sorted by id alone if all matches have the same value of the sort field.
    by_name = known_actions()
    severities = {by_name[name].severity if name in by_name else None for name in filters.names}
    one_severity = page.sort_field == "severity" and len(severities) == 1
    by_time = one_severity or page.sort_field == "created_at"
    order = page.order("id")[:1] if by_time else page.order(tie="id")

    # A list by user with a further filter may have few matches or none, and a scan in the order of
    # the list would then read all entries of the user. Not so if an index of `Entry` begins with
    # both filters and ends with the id: `target_id` has no such index.
    filter_count = users + filters.kinds
    has_index = by_time and filter_count == 2 and len(filters.names) < 2 and not filters.target_id
    may_be_sparse = users > 0 and filter_count >= 2 and not has_index

    end = page.offset + page.limit
    with planned_for_values(parts[0].db):
        total = _count(parts) if may_be_sparse else None
        by_index = total is None or total > FEW
        # One row more than the page, to find out whether there are further pages.
        rows = list(_combined(parts, order, end + 1, by_index=by_index)[page.offset : end + 1])
        # An empty page beyond the end says nothing about the total.
        is_last = len(rows) <= page.limit and bool(rows or not page.offset)
        if total is None and is_last:
            return rows, page.offset + len(rows)
        if total is None:
            # In order, so that the database scans a sorted index up to the cap. The count above has
            # no order, since few entries of such an index may match.
            total = _count(parts, "-id")
    if not rows:
        return [], total
    # A page may lie beyond the cap, at which `_count` stops.
    return rows[: page.limit], max(total, page.offset + len(rows))


def _count(parts: Sequence[QuerySet[Entry]], *order: str) -> int:
    """The number of matches, at most `COUNTED`. It selects only ids, which the index has. Without
    `order` the database may use any index, not only a sorted one."""
    return int(_combined([rows.values("id") for rows in parts], order, COUNTED).count())


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
    part_order = order if by_index else tuple(map(_unindexed, order))
    ordered = [rows.order_by(*part_order)[:limit] for rows in parts]
    if len(ordered) == 1:
        return ordered[0]
    if not connections[parts[0].db].features.supports_slicing_ordering_in_compound:
        return (parts[0] | parts[1]).order_by(*part_order)[:limit]
    return ordered[0].union(*ordered[1:], all=True).order_by(*order)[:limit]


def _unindexed(name: str) -> OrderBy:
    """The order by this field, as an expression that no index has: `COALESCE(id, id) DESC` for
    `-id`."""
    field = name.removeprefix("-")
    return OrderBy(Coalesce(field, field), descending=name != field)
