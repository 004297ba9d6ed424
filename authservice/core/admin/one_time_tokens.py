"""Django admin: one-time tokens, which staff can delete and not edit, and counters of attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from authservice.core.models import AttemptCounter, OneTimeToken
from authservice.core.staff.admin_filters import OneTimeTokenState
from authservice.core.staff.admin_lists import USER_SEARCH
from authservice.core.staff.admin_pages import (
    GoesWithUser,
    LinksToPerson,
    ReadOnly,
    RowGuard,
)
from authservice.kernel import clock, databases, events
from authservice.kernel.http.request_client import of_page

if TYPE_CHECKING:
    OneTimeTokenPage = admin.ModelAdmin[OneTimeToken]
    AttemptPage = admin.ModelAdmin[AttemptCounter]
else:
    OneTimeTokenPage = AttemptPage = admin.ModelAdmin


_REVOKED = "security.one_time_token.revoked"


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

    def delete_model(self, request: HttpRequest, obj: OneTimeToken) -> None:
        self.delete_queryset(request, OneTimeToken.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[OneTimeToken]) -> None:
        """Record each token that could still be used: deleting it revokes it."""
        chosen = OneTimeToken.objects.filter(pk__in=list(queryset.values_list("pk", flat=True)))
        usable = chosen.filter(spent_at=None, expires_at__gt=clock.now()).order_by("pk")
        by: Any = request.user
        client = of_page(request)
        with transaction.atomic(using=databases.primary()):
            # Locked: a token that is used at this moment must not be recorded as revoked.
            for token in usable.select_for_update():
                known = {"purpose": token.purpose, "one_time_token": str(token.pk)}
                events.record_by_staff(_REVOKED, by, token.user, client, **known)
            super().delete_queryset(request, chosen)


@admin.register(AttemptCounter)
class AttemptAdmin(ReadOnly, AttemptPage):
    """The counters of attempts. The subject of a counter is stored as a digest only, which is also
    its primary key."""

    list_display = ("ends_at", "count", "strikes")
    list_display_links = None
    ordering = ("-ends_at",)
    show_full_result_count = False
    actions = None

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None and super().has_view_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
