"""Django admin: sessions, which staff can end and not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from authservice.core.models import Session
from authservice.core.sessions import revocation
from authservice.core.staff import admin_lists, support_page
from authservice.core.staff.admin_filters import SessionState
from authservice.core.staff.admin_lists import USER_SEARCH
from authservice.core.staff.admin_pages import (
    GoesWithUser,
    LinksToPerson,
    ReadOnly,
    RowGuard,
    log,
    permitted,
    person_of,
)
from authservice.kernel.http.request_client import of_page
from authservice.kernel.phrases import admin_count
from authservice.kernel.phrases import admin_text as _

if TYPE_CHECKING:
    SessionPage = admin.ModelAdmin[Session]
else:
    SessionPage = admin.ModelAdmin


@admin.register(Session)
class SessionAdmin(LinksToPerson, GoesWithUser, RowGuard, ReadOnly, SessionPage):
    fields = (
        "person",
        "state",
        "amr",
        "ip_address",
        "user_agent",
        "created_at",
        "refreshed_at",
        "last_used_at",
        "idle_expires_at",
        "expires_at",
        "ended_at",
        "end_reason",
    )
    list_display = ("created_at", "person", "amr", "ip_address", "last_used_at", "state")
    list_select_related = ("user__authservice_account",)
    list_filter = (SessionState, "created_at")
    exact_lookups = ("user__exact",)
    search_fields = (*USER_SEARCH, "ip_address")
    ordering = ("-pk",)
    show_full_result_count = False
    actions = ("end",)

    @admin.display(description=_("state"))
    def state(self, session: Session) -> str:
        return support_page.session_state(session, person_of(session.user))

    def has_end_permission(self, request: HttpRequest) -> bool:
        # The rows cannot be edited, but staff with the permission to change them may end sessions.
        return super(ReadOnly, self).has_change_permission(request)

    @admin.action(permissions=["end"], description=_("End the selected sessions"))
    def end(self, request: HttpRequest, chosen: QuerySet[Session]) -> HttpResponse | None:
        question = _("These sessions end. Their tokens are refused from then on.")
        if page := admin_lists.ask_to_confirm(self, request, chosen, question):
            return page
        ended = self._ended(request, chosen)
        log(request, ended, _("Ended."))
        text = admin_count("Ended %(count)d session.", "Ended %(count)d sessions.", len(ended))
        self.message_user(request, text)
        return None

    def delete_model(self, request: HttpRequest, obj: Session) -> None:
        self._ended(request, Session.objects.filter(pk=obj.pk))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Session]) -> None:
        # By key: the list may be filtered by open sessions, and would be empty after they end.
        chosen = Session.objects.filter(pk__in=list(queryset.values_list("pk", flat=True)))
        self._ended(request, chosen)
        super().delete_queryset(request, chosen)

    def _ended(self, request: HttpRequest, chosen: QuerySet[Session]) -> list[Session]:
        """End the selected sessions and record each; returns those that were still open. Deleting a
        session ends it too."""
        by, client = request.user, of_page(request)
        found = chosen.select_related("user__authservice_account")
        rows = permitted(self, request, found, lambda row: person_of(row.user))
        return [one for one in rows if revocation.revoke_one(one, by=by, client=client)]
