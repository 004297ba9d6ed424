"""Django admin: the list of invitations, and the actions to send them again and to cancel them.

Imported only by the autodiscovery of Django admin. No token and no digest is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import QuerySet
from django.http import HttpRequest

from authservice.core.staff.admin_pages import GoesWithUser, ReadOnly
from authservice.invitation import staff
from authservice.invitation.models import PlatformInvitation
from authservice.kernel import errors
from authservice.kernel.client import Client
from authservice.kernel.http.client import of_page

if TYPE_CHECKING:
    Page = admin.ModelAdmin[Any]
else:
    Page = admin.ModelAdmin

_Action = Callable[[PlatformInvitation, Any, Client], None]


@admin.register(PlatformInvitation)
class PlatformInvitationAdmin(GoesWithUser, ReadOnly, Page):
    fields = (
        *("email", "purpose", "metadata", "inviter", "shown_status"),
        *("created_at", "expires_at", "closed_at"),
    )
    list_display = ("email", "purpose", "inviter", "shown_status", "created_at", "expires_at")
    list_select_related = ("inviter",)
    list_filter = ("status", "purpose", "created_at")
    search_fields = ("email", "inviter__authservice_account__email")
    ordering = ("-pk",)
    show_full_result_count = False
    actions = ("send_again", "cancel")

    @admin.display(description="status")
    def shown_status(self, invitation: PlatformInvitation) -> str:
        return invitation.current_status

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Deleting the row would write no audit entry: staff cancel it instead.
        return not self.at_home(request) and super().has_delete_permission(request, obj)

    def has_act_permission(self, request: HttpRequest) -> bool:
        # The page is read-only; staff with the permission to change invitations may run actions.
        return super(ReadOnly, self).has_change_permission(request)

    @admin.action(permissions=["act"], description="Send again")
    def send_again(self, request: HttpRequest, chosen: QuerySet[PlatformInvitation]) -> None:
        self._run(request, chosen, staff.resend, "Sent again")

    @admin.action(permissions=["act"], description="Cancel")
    def cancel(self, request: HttpRequest, chosen: QuerySet[PlatformInvitation]) -> None:
        self._run(request, chosen, staff.cancel, "Cancelled")

    def _run(
        self,
        request: HttpRequest,
        chosen: QuerySet[PlatformInvitation],
        action: _Action,
        done: str,
    ) -> None:
        changed, skipped = [], []
        for invitation in chosen:
            try:
                action(invitation, request.user, of_page(request))
                changed.append(invitation)
            except errors.Fault as fault:
                skipped.append(f"{invitation.email}: {fault.message}")
        editor: Any = request.user.pk
        LogEntry.objects.log_actions(editor, changed, CHANGE, f"{done}.")
        self.message_user(request, f"{done}: {len(changed)} invitations.")
        for text in skipped:
            self.message_user(request, text, "WARNING")
