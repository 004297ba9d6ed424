"""Django admin: a read-only view of the log for staff with the permission to view entries.

Superusers cannot change the log either: a log that can be edited is no evidence.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import cached_property

from authservice.audit.models import Entry
from authservice.audit.queries import COUNTED
from authservice.core.models import Account
from authservice.core.staff.admin_pages import ReadOnly, person_link
from authservice.core.users import lookup, search
from authservice.kernel import clock, databases
from authservice.kernel.actions import SEVERITIES
from authservice.kernel.languages import admin_text as _
from authservice.kernel.modules import known_actions

if TYPE_CHECKING:
    EntryPage = admin.ModelAdmin[Entry]
    Pages = Paginator[Any]
else:
    EntryPage, Pages = admin.ModelAdmin, Paginator


_MOST_USERS = 100  # A search by address or name finds entries of at most so many users, the newest.
_SPANS = {
    "hour": (_("Past hour"), timedelta(hours=1)),
    "day": (_("Past 24 hours"), timedelta(days=1)),
    "week": (_("Past 7 days"), timedelta(days=7)),
    "month": (_("Past 30 days"), timedelta(days=30)),
}


class CappedPaginator(Pages):
    """Shows the newest `COUNTED` entries, since counting all of them reads the whole table."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows[:COUNTED].count())


class ActionFilter(admin.SimpleListFilter):
    title, parameter_name = _("action"), "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in known_actions()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Entry]) -> QuerySet[Entry]:
        action = self.value()
        return queryset.filter(action=action) if action else queryset


class SeverityFilter(admin.SimpleListFilter):
    title, parameter_name = _("severity"), "severity"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in SEVERITIES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Entry]) -> QuerySet[Entry]:
        severity = self.value()
        return queryset.filter(severity=severity) if severity else queryset


class TimeFilter(admin.SimpleListFilter):
    """By time: a range of ids, since ids are UUIDs version 7."""

    title, parameter_name = _("time"), "time"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, text) for name, (text, _span) in _SPANS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Entry]) -> QuerySet[Entry]:
        if self.value() not in _SPANS:
            return queryset
        since = clock.utc() - _SPANS[str(self.value())][1]
        return queryset.filter(pk__gte=clock.least_uuid7(since))


@admin.register(Entry)
class EntryAdmin(ReadOnly, EntryPage):
    list_display = ("time", "action", "severity", "actor", "target", "ip_address")
    fields = (
        *("time", "action", "severity", "actor", "actor_type", "actor_id"),
        *("target", "target_type", "target_id"),
        *("details", "metadata", "ip_address", "user_agent"),
    )
    readonly_fields = ("time", "actor", "target")
    list_filter = (TimeFilter, ActionFilter, SeverityFilter)
    # Django admin shows a search box only if there are search fields; `get_search_results` does
    # the search.
    search_fields = ("actor_id", "target_id")
    search_help_text = _("An e-mail address, a username or name, or the whole id")
    ordering = ("-pk",)
    sortable_by = ("action", "severity")
    show_full_result_count = False
    paginator = CappedPaginator
    actions = None

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        changes: Any = super().get_changelist_instance(request)
        # The users of all rows of the page, in one query.
        people = _people(changes.result_list)
        for entry in changes.result_list:
            entry.people = people
        return changes

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Entry], search_term: str
    ) -> tuple[QuerySet[Entry], bool]:
        text = search_term.strip()
        if not text:
            return queryset, False
        # A whole id, or a part of the address or name of users.
        matches = Account.objects.filter(search.containing(text, databases.primary()))
        newest = matches.order_by("-created_at").values_list("pk", flat=True)[:_MOST_USERS]
        ids = [text, *map(str, newest)]
        return queryset.filter(Q(actor_id__in=ids) | Q(target_id__in=ids)), False

    @admin.display(description=_("time"))
    def time(self, entry: Entry) -> str:
        local = entry.created_at
        local = timezone.localtime(local) if timezone.is_aware(local) else local
        return f"{local:%Y-%m-%d %H:%M:%S}"

    @admin.display(description=_("actor"))
    def actor(self, entry: Entry) -> str:
        return self._person(entry, entry.actor_id) or "-"

    @admin.display(description=_("target"))
    def target(self, entry: Entry) -> str:
        if entry.target_type == "user":
            return self._person(entry, entry.target_id) or "-"
        return f"{entry.target_type} {entry.target_id}".strip() or "-"

    def _person(self, entry: Entry, pk: str) -> str:
        people = getattr(entry, "people", None)
        account = (_people([entry]) if people is None else people).get(pk)
        return person_link(self.admin_site, account) if account else pk


def _people(entries: Iterable[Entry]) -> dict[str, Account]:
    """The accounts of actors and targets, by the id of the user. Deleted users have none."""
    ids = {pk for entry in entries for pk in (entry.actor_id, entry.target_id)}
    keys = [key for pk in ids if (key := lookup.parse_id(pk)) is not None]
    return {str(account.pk): account for account in Account.objects.filter(pk__in=keys)}
