"""The list of users: one page of it, and the total.

The list is sorted by the accounts' own indexed copies; the values shown are those of the host's
row. The total is counted if the query planner expects that to be cheap; otherwise the planner's
estimate is the total.
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


def _rows(page: Page, filters: UserFilter) -> tuple[list[tuple[Any, ...]], int]:
    found = matching(filters)
    if filters == UserFilter():
        return strategies.page_of_all(found, page)
    # In a list sorted by creation time, the time limits bound the part of the index to scan.
    span = _span(filters) if page.sort_field == "created_at" else Q()
    return strategies.page_of_some(found, page, all_accounts().filter(span))


def all_accounts() -> QuerySet[Account]:
    return Account.objects.using(databases.primary())


def matching(filters: UserFilter) -> QuerySet[Account]:
    conditions = _conditions(filters, databases.primary())
    return all_accounts().filter(_span(filters), *conditions)


def _span(filters: UserFilter) -> Q:
    after, before = filters.created_after, filters.created_before
    span = Q(created_at__gte=after) if after else Q()
    return span & Q(created_at__lt=before) if before else span


def _conditions(filters: UserFilter, using: str) -> Iterator[Q]:
    if filters.query:
        yield search.containing(filters.query, using)
    if filters.active is not None:
        yield _active() if filters.active else ~_active()
    if filters.email_verified is not None:
        yield search.verified() if filters.email_verified else ~search.verified()
    if filters.is_super_admin is not None:
        yield _super_admins() if filters.is_super_admin else _not_super_admins()
    if filters.last_login_before:
        yield Q(Exists(_users(last_login__lt=filters.last_login_before)))


# A condition on the host's rows is a subquery on the few suspended users or superusers, which an
# index may serve. It is never a join, for which a database may read all users.


def _users(**having: Any) -> QuerySet[Any]:
    users = host().model._base_manager.using(databases.primary())
    found: QuerySet[Any] = users.filter(pk=OuterRef("pk"), **having).order_by()
    return found


def _active() -> Q:
    active = host().active
    return ~Q(Exists(_users(**{active: False}))) if active else Q(active=True)


def _super_admins() -> Q:
    """By our flag or the host's, as a UNION of the few rows of either table: no index spans
    both."""
    if not host().superuser:
        return Q(is_super_admin=True)
    users = host().model._base_manager.using(databases.primary())
    flagged = all_accounts().filter(is_super_admin=True).values("pk")
    superusers = users.filter(**{host().superuser: True}).values("pk")
    return Q(pk__in=flagged.union(superusers, all=True))


def _not_super_admins() -> Q:
    superuser = host().superuser
    neither = Q(is_super_admin=False)
    return neither & ~Q(Exists(_users(**{superuser: True}))) if superuser else neither
