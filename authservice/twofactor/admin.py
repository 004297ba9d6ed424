"""Django admin: who has an authenticator, and taking it away from somebody who lost it.

Imported by admin's own autodiscovery alone. No secret, digest or mark is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import QuerySet
from django.http import HttpRequest

from authservice.core.staff.admin_pages import (
    GoesWithUser,
    ReadOnly,
    SuperAdminGuard,
    permitted,
    person_of,
)
from authservice.core.users import lookup
from authservice.kernel.http.client import of_page
from authservice.twofactor import backup_codes, disabling, lockout
from authservice.twofactor.models import Authenticator, BackupCode, RememberedDevice

if TYPE_CHECKING:
    Page = admin.ModelAdmin[Any]
else:
    Page = admin.ModelAdmin


@admin.register(Authenticator)
class AuthenticatorAdmin(GoesWithUser, SuperAdminGuard, ReadOnly, Page):
    fields = (
        "user",
        "confirmed",
        "backup_codes_left",
        "set_up_at",
        "enabled_at",
        "last_used_at",
    )
    list_display = ("user", "confirmed", "enabled_at", "last_used_at")
    list_select_related = ("user",)
    list_filter = ("confirmed", "enabled_at")
    search_fields = ("user__authservice_account__email", "user__authservice_account__username")
    ordering = ("-pk",)
    show_full_result_count = False
    actions = ("disable", "unlock")

    @admin.display(description="backup codes left")
    def backup_codes_left(self, authenticator: Authenticator) -> int:
        return backup_codes.remaining(authenticator)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Deleted as a row it would be gone without a word, and its user would stay signed in.
        return not self.at_home(request) and super().has_delete_permission(request, obj)

    def has_act_permission(self, request: HttpRequest) -> bool:
        # The rows cannot be changed, but who is allowed to change them may do this.
        return super(ReadOnly, self).has_change_permission(request)

    @admin.action(permissions=["act"], description="Disable for this user")
    def disable(self, request: HttpRequest, chosen: QuerySet[Authenticator]) -> None:
        enabled = self._permitted(request, chosen.filter(confirmed=True))
        self._log(request, enabled, "Disabled.")
        for authenticator in enabled:
            person = lookup.get_person(authenticator.user)
            disabling.disable(person, by=request.user, client=of_page(request))
        text = f"Disabled the second factor of {len(enabled)} users, who were signed out."
        self.message_user(request, text)

    @admin.action(permissions=["act"], description="Unlock: forget wrong codes")
    def unlock(self, request: HttpRequest, chosen: QuerySet[Authenticator]) -> None:
        rows = self._permitted(request, chosen)
        lockout.unlock([lookup.get_person(authenticator.user) for authenticator in rows])
        self._log(request, rows, "Unlocked.")
        self.message_user(request, f"Unlocked {len(rows)} users.")

    def _permitted(
        self, request: HttpRequest, chosen: QuerySet[Authenticator]
    ) -> list[Authenticator]:
        rows = chosen.select_related("user__authservice_account")
        return permitted(self, request, rows, lambda row: person_of(row.user))

    def _log(self, request: HttpRequest, rows: list[Authenticator], text: str) -> None:
        editor: Any = request.user.pk
        LogEntry.objects.log_actions(editor, rows, CHANGE, text)


class Unseen(GoesWithUser, ReadOnly, Page):
    """Registered for this alone: that they do not stand in the way of deleting their user."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return not self.at_home(request)


admin.site.register([BackupCode, RememberedDevice], Unseen)
