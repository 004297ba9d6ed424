"""Reading the log: one part of it, and how many entries there are in all, up to a cap.

Whom an entry concerns is who did it or whom it was done to. Asked for as one condition, that takes
the database through all entries of that person; as two ordered parts put together, each walks along
its own index no further than the page. What narrows a list to a time narrows the ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import connections
from django.db.models import Q, QuerySet

from authservice.audit.models import Entry
from authservice.core import directory
from authservice.kernel import actions
from authservice.kernel.ids import least

if TYPE_CHECKING:
    from authservice.kernel.http.listing import Page

# Counting costs as much as what is counted: nobody leafs through more than this.
COUNTED = 10_000


@dataclass(frozen=True, kw_only=True)
class Narrowed:
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


def part(page: Page, narrowed: Narrowed) -> tuple[list[Entry], int]:
    """The entries on a page, and how many there are on all pages."""
    return _part(page, [_matching(narrowed)])


def part_of(user_id: str, page: Page, narrowed: Narrowed) -> tuple[list[Entry], int]:
    """The same of those that the user did or that were done to the user."""
    found = _matching(narrowed)
    done_by = Q(actor_id=user_id)
    done_to = Q(target_id=user_id, target_type="user") & ~done_by
    return _part(page, [found.filter(done_by), found.filter(done_to)])


def _part(page: Page, parts: Sequence[QuerySet[Entry]]) -> tuple[list[Entry], int]:
    end = page.offset + page.limit
    # One more than is shown says whether the list goes on.
    rows = list(_together(parts, _order(page), end + 1)[page.offset : end + 1])
    if len(rows) <= page.limit and (rows or not page.offset):
        return rows, page.offset + len(rows)
    # Of ids alone, which the index has without a look at the rows.
    counted = _together([found.values("id") for found in parts], ("-id",), COUNTED).count()
    return rows[: page.limit], max(counted, page.offset + len(rows)) if rows else counted


def _together(
    parts: Sequence[QuerySet[Any, Any]], order: tuple[str, ...], most: int
) -> QuerySet[Any, Any]:
    """The first entries of all parts, which share none."""
    ordered = [rows.order_by(*order)[:most] for rows in parts]
    if len(ordered) == 1:
        return ordered[0]
    if not connections[parts[0].db].features.supports_slicing_ordering_in_compound:
        return (parts[0] | parts[1]).order_by(*order)[:most]
    return ordered[0].union(*ordered[1:], all=True).order_by(*order)[:most]


def _order(page: Page) -> tuple[str, ...]:
    if page.sort_field == "created_at":
        return page.order("id")[:1]
    return page.order(tie="id")


def _matching(narrowed: Narrowed) -> QuerySet[Entry]:
    rows = Entry.objects.using(directory.database())
    return rows.filter(*_conditions(narrowed))


def _conditions(narrowed: Narrowed) -> Iterator[Q]:
    if narrowed.action:
        yield Q(action__in=actions.named(narrowed.action))
    for name in ("severity", "topic", "actor_id", "target_id"):
        wanted: Any = getattr(narrowed, name)
        if wanted:
            yield Q(**{name: wanted})
    if narrowed.since:
        yield Q(pk__gte=least(narrowed.since))
    if narrowed.until:
        yield Q(pk__lt=least(narrowed.until))
