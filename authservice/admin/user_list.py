"""The list of users: one part of it, and how many there are in all.

Sorting goes by the accounts' own indexed copies; what is told of each user is read from the host's
row. How many there are is counted as long as that is cheap, which the database's own planner says
beforehand; where it is not, its estimate is the total.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from authservice.admin import search, strategies
from authservice.core.models import Account
from authservice.core.users import person as people
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import databases
from authservice.kernel.paging import Page
from authservice.kernel.sql import planned_for_values


@dataclass(frozen=True, kw_only=True)
class UserFilter:
    """Which users are wanted; what is None or empty narrows nothing."""

    query: str = ""
    active: bool | None = None
    email_verified: bool | None = None
    is_super_admin: bool | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    last_login_before: datetime | None = None


def page_of(page: Page, narrowed: UserFilter) -> tuple[list[Person], int]:
    """The people on a page, and how many there are on all pages."""
    using = databases.primary()
    with planned_for_values(using):
        rows, total = _rows(page, narrowed)
    return [people.read(row, using) for row in rows], total


def _rows(page: Page, narrowed: UserFilter) -> tuple[list[tuple[Any, ...]], int]:
    found = matching(narrowed)
    if narrowed == UserFilter():
        return strategies.of_all(found, page)
    # Where time is also what is sorted by, its limits are where to begin and to end.
    span = _span(narrowed) if page.sort_field == "created_at" else Q()
    return strategies.of_some(found, page, everybody().filter(span))


def everybody() -> QuerySet[Account]:
    return Account.objects.using(databases.primary())


def matching(narrowed: UserFilter) -> QuerySet[Account]:
    conditions = _conditions(narrowed, databases.primary())
    return everybody().filter(_span(narrowed), *conditions)


def _span(narrowed: UserFilter) -> Q:
    after, before = narrowed.created_after, narrowed.created_before
    span = Q(created_at__gte=after) if after else Q()
    return span & Q(created_at__lt=before) if before else span


def _conditions(narrowed: UserFilter, using: str) -> Iterator[Q]:
    if narrowed.query:
        yield search.holding(narrowed.query, using)
    if narrowed.active is not None:
        yield _active() if narrowed.active else ~_active()
    if narrowed.email_verified is not None:
        yield search.verified() if narrowed.email_verified else ~search.verified()
    if narrowed.is_super_admin is not None:
        yield _super_admins() if narrowed.is_super_admin else _others()
    if narrowed.last_login_before:
        yield Q(Exists(_users(last_login__lt=narrowed.last_login_before)))


# Conditions on the host's rows are put as those on the few who are suspended or superusers, of whom
# there may be an index, and never as a join, for which a database may read all users.


def _users(**having: Any) -> QuerySet[Any]:
    users = host().model._base_manager.using(databases.primary())
    found: QuerySet[Any] = users.filter(pk=OuterRef("pk"), **having).order_by()
    return found


def _active() -> Q:
    active = host().active
    return ~Q(Exists(_users(**{active: False}))) if active else Q(active=True)


def _super_admins() -> Q:
    """By our flag or by the host's: the few of either table, since no index spans both."""
    if not host().superuser:
        return Q(is_super_admin=True)
    users = host().model._base_manager.using(databases.primary())
    flagged = everybody().filter(is_super_admin=True).values("pk")
    kings = users.filter(**{host().superuser: True}).values("pk")
    return Q(pk__in=flagged.union(kings, all=True))


def _others() -> Q:
    superuser = host().superuser
    neither = Q(is_super_admin=False)
    return neither & ~Q(Exists(_users(**{superuser: True}))) if superuser else neither
