"""Django admin: the linked providers of users, to be read and unlinked. No token is shown.

Imported only by the autodiscovery of Django admin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import QuerySet
from django.http import HttpRequest

from authservice.core.staff.admin_pages import (
    GoesWithUser,
    LinksToPerson,
    ReadOnly,
    RowGuard,
    permitted,
    person_of,
)
from authservice.core.users import lookup
from authservice.kernel.http.incoming import of_page
from authservice.kernel.languages import admin_count
from authservice.kernel.languages import admin_text as _
from authservice.oauth import linking
from authservice.oauth.models import LinkedAccount

if TYPE_CHECKING:
    Page = admin.ModelAdmin[Any]
else:
    Page = admin.ModelAdmin


@admin.register(LinkedAccount)
class LinkedAccountAdmin(LinksToPerson, GoesWithUser, RowGuard, ReadOnly, Page):
    fields = ("person", "provider", "subject", "email", "at_signup", "added_at")
    list_display = ("person", "provider", "email", "added_at")
    list_display_links = ("provider",)  # `person` is a link already
    list_select_related = ("user__authservice_account",)
    list_filter = ("provider", "added_at")
    search_fields = ("user__authservice_account__email", "subject", "email")
    ordering = ("-pk",)
    show_full_result_count = False
    actions = ("unlink",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Deleting the row on its own page would write no audit entry and send no notice; the action
        # below does both. Django asks here too when the user is deleted, with all rows.
        return not self.is_own_page(request) and super().has_delete_permission(request, obj)

    def has_act_permission(self, request: HttpRequest) -> bool:
        # The page is read-only; staff with the permission to change links may run actions.
        return super(ReadOnly, self).has_change_permission(request)

    @admin.action(permissions=["act"], description=_("Unlink from the account"))
    def unlink(self, request: HttpRequest, chosen: QuerySet[LinkedAccount]) -> None:
        rows = chosen.select_related("user__authservice_account")
        links = permitted(self, request, rows, lambda row: person_of(row.user))
        by, client = request.user, of_page(request)
        removed = [
            link
            for link in links
            if linking.unlink_by_staff(
                lookup.get_person(link.user), link.provider, by=by, client=client
            )
        ]
        editor: Any = request.user.pk
        LogEntry.objects.log_actions(editor, removed, CHANGE, str(_("Unlinked.")))
        text = admin_count(
            "Unlinked %(count)d provider.", "Unlinked %(count)d providers.", len(removed)
        )
        self.message_user(request, text)
