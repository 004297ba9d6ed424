"""Django admin: a read-only view of the log for staff with the permission to view entries.

Superusers cannot change it either: a log that can be edited is no evidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

from authservice.audit.models import Entry
from authservice.audit.queries import COUNTED
from authservice.core.staff.admin_pages import ReadOnly
from authservice.kernel import databases
from authservice.kernel.actions import ACTIONS, SEVERITIES
from authservice.kernel.sql import planned_for_values

if TYPE_CHECKING:
    EntryPage = admin.ModelAdmin[Entry]
    Pages = Paginator[Any]
else:
    EntryPage, Pages = admin.ModelAdmin, Paginator


class CappedPaginator(Pages):
    """Shows the newest `COUNTED` entries, since counting all of them reads the whole table."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows[:COUNTED].count())


class ActionFilter(admin.SimpleListFilter):
    title, parameter_name = "action", "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in ACTIONS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Entry]) -> QuerySet[Entry]:
        wanted = self.value()
        return queryset.filter(action=wanted) if wanted else queryset


class SeverityFilter(admin.SimpleListFilter):
    title, parameter_name = "severity", "severity"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in SEVERITIES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Entry]) -> QuerySet[Entry]:
        wanted = self.value()
        return queryset.filter(severity=wanted) if wanted else queryset


@admin.register(Entry)
class EntryAdmin(ReadOnly, EntryPage):
    list_display = (
        "created_at",
        "action",
        "severity",
        "actor_type",
        "actor_id",
        "target_type",
        "target_id",
        "ip_address",
    )
    list_filter = (ActionFilter, SeverityFilter)
    # Searches for a whole id, which an index finds; see `get_search_results`.
    search_fields = ("actor_id", "target_id")
    search_help_text = "The whole id of an actor or of a target"
    ordering = ("-pk",)
    sortable_by = ("action", "severity", "actor_id")
    show_full_result_count = False
    paginator = CappedPaginator
    actions = None

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, *args: Any, **more: Any) -> Any:
        with planned_for_values(databases.primary()):
            return super().changelist_view(request, *args, **more)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Entry], search_term: str
    ) -> tuple[QuerySet[Entry], bool]:
        wanted = search_term.strip()
        if wanted:
            queryset = queryset.filter(Q(actor_id=wanted) | Q(target_id=wanted))
        return queryset, False
