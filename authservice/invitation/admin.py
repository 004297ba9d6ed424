"""Django admin: the list of invitations, and the actions to send them again and to cancel them.

Imported only by the autodiscovery of Django admin. No token and no digest is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from authservice.core.invitations.models import Status
from authservice.core.staff.admin_pages import ActionsOnly
from authservice.invitation import platform_invitations
from authservice.invitation.models import PlatformInvitation
from authservice.kernel.phrases import admin_text as _

if TYPE_CHECKING:
    Page = admin.ModelAdmin[Any]
else:
    Page = admin.ModelAdmin


@admin.register(PlatformInvitation)
class PlatformInvitationAdmin(ActionsOnly, Page):
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

    @admin.display(description=_("status"))
    def shown_status(self, invitation: PlatformInvitation) -> str:
        return str(Status(invitation.current_status).label)

    @admin.action(permissions=["act"], description=_("Send again"))
    def send_again(self, request: HttpRequest, chosen: QuerySet[PlatformInvitation]) -> None:
        self.run(request, chosen, platform_invitations.resend_by_staff, _("Sent again"))

    @admin.action(permissions=["act"], description=_("Cancel"))
    def cancel(self, request: HttpRequest, chosen: QuerySet[PlatformInvitation]) -> None:
        self.run(request, chosen, platform_invitations.cancel_by_staff, _("Cancelled"))
