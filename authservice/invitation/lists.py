"""Which invitations a list shows, and which rows the cleanup deletes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from authservice.core.users.person import Person
from authservice.invitation.conf import conf
from authservice.invitation.models import PlatformInvitation
from authservice.kernel import databases, text_search
from authservice.kernel.paging import Page

SORT_FIELDS = ("created_at", "expires_at", "status", "purpose")
# The list of a recipient has pending invitations only.
OWN_SORT_FIELDS = ("created_at", "expires_at", "purpose")


@dataclass(frozen=True)
class Filter:
    """An empty value does not filter. `query` is a part of the address, in any case."""

    status: str = ""
    purpose: str = ""
    query: str = ""


def sent_by(person: Person, wanted: Filter, page: Page) -> tuple[list[PlatformInvitation], int]:
    """One page of the invitations that the user sent, and how many there are."""
    rows = PlatformInvitation.objects.filter(inviter=person.user.pk)
    if wanted.status:
        rows = rows.with_status(wanted.status)
    column = "shown_status" if page.sort_field == "status" else ""
    return _page(rows.with_shown_status() if column else rows, wanted, page, column)


def pending_for(person: Person, wanted: Filter, page: Page) -> tuple[list[PlatformInvitation], int]:
    """The pending invitations for the address of the user, verified or not, and how many there
    are."""
    if not person.email:
        return [], 0
    rows = PlatformInvitation.objects.pending().filter(email_key=person.email_key)
    return _page(rows, wanted, page)


def expired_rows() -> dict[str, QuerySet[Any]]:
    """Fills the slot `expired_rows`."""
    over: QuerySet[Any] = PlatformInvitation.objects.over_since(timezone.now() - conf.kept)
    return {"invitations": over}


def _page(
    rows: Any, wanted: Filter, page: Page, column: str = ""
) -> tuple[list[PlatformInvitation], int]:
    if wanted.purpose:
        rows = rows.filter(purpose=wanted.purpose)
    if wanted.query:
        found = text_search.containing(wanted.query, "email", using=databases.primary())
        rows = rows.filter(found)
    total = rows.count()
    return list(page.cut(rows.order_by(*page.order(column)))), total
