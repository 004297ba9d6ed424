"""Django admin: one-time tokens and counters of attempts, read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

from authservice.core.models import AttemptCounter, OneTimeToken
from authservice.core.staff.admin_filters import OneTimeTokenState
from authservice.core.staff.admin_pages import (
    USER_SEARCH,
    GoesWithUser,
    LinksToPerson,
    ReadOnly,
    RowGuard,
)

if TYPE_CHECKING:
    OneTimeTokenPage = admin.ModelAdmin[OneTimeToken]
    AttemptPage = admin.ModelAdmin[AttemptCounter]
else:
    OneTimeTokenPage = AttemptPage = admin.ModelAdmin


@admin.register(OneTimeToken)
class OneTimeTokenAdmin(LinksToPerson, GoesWithUser, RowGuard, ReadOnly, OneTimeTokenPage):
    """One-time tokens. The page shows neither their digests nor the data stored with them."""

    fields = ("purpose", "person", "attempts", "created_at", "expires_at", "spent_at")
    list_display = ("created_at", "purpose", "person", "attempts", "expires_at", "spent_at")
    list_select_related = ("user__authservice_account",)
    list_filter = (OneTimeTokenState, "purpose")
    search_fields = USER_SEARCH
    ordering = ("-pk",)
    show_full_result_count = False


@admin.register(AttemptCounter)
class AttemptAdmin(ReadOnly, AttemptPage):
    """The counters of attempts. The subject of a counter is stored as a digest only, which is also
    its primary key."""

    list_display = ("ends_at", "count", "strikes")
    list_display_links = None
    ordering = ("-ends_at",)
    show_full_result_count = False
    actions = None

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> AttemptCounter | None:
        # The key is a text, and PostgreSQL raises an error for a NUL character in a parameter.
        if "\0" in object_id:
            return None
        return super().get_object(request, object_id, from_field)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None and super().has_view_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
