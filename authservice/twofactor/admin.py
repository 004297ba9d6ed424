"""Django admin: the list of authenticators, and disabling them for users who lost their device.

Imported only by the autodiscovery of Django admin. No secret, digest or fingerprint is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from authservice.core.staff import admin_lists, login_obstacles
from authservice.core.staff.admin_pages import (
    ActionsOnly,
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
from authservice.twofactor import authenticators, enrolment
from authservice.twofactor.models import Authenticator, BackupCode, RememberedDevice

if TYPE_CHECKING:
    Page = admin.ModelAdmin[Any]
else:
    Page = admin.ModelAdmin


@admin.register(Authenticator)
class AuthenticatorAdmin(LinksToPerson, ActionsOnly, RowGuard, Page):
    fields = (
        "person",
        "confirmed",
        "backup_codes_left",
        "set_up_at",
        "enabled_at",
        "last_used_at",
    )
    list_display = ("person", "confirmed", "enabled_at", "last_used_at")
    list_display_links = ("enabled_at",)  # `person` is a link already
    list_select_related = ("user__authservice_account",)
    list_filter = ("confirmed", "enabled_at")
    search_fields = ("user__authservice_account__email", "user__authservice_account__username")
    ordering = ("-pk",)
    show_full_result_count = False
    actions = ("disable", "unlock")

    @admin.display(description=_("backup codes left"))
    def backup_codes_left(self, authenticator: Authenticator) -> int:
        return authenticators.remaining_backup_codes(authenticator)

    @admin.action(permissions=["act"], description=_("Disable for this user"))
    def disable(self, request: HttpRequest, chosen: QuerySet[Authenticator]) -> HttpResponse | None:
        question = _(
            "The second factor of these users is removed: their password is then enough to log in."
            " All their sessions end, and they get an e-mail."
        )
        if page := admin_lists.ask_to_confirm(self, request, chosen, question):
            return page
        enabled = self._permitted(request, chosen.filter(confirmed=True))
        by, client = request.user, of_page(request)
        disabled = [
            row
            for row in enabled
            if enrolment.remove(lookup.get_person(row.user), by=by, client=client)
        ]
        self._log(request, disabled, _("Disabled."))
        text = admin_count(
            "Disabled the second factor of %(count)d user and ended all their sessions.",
            "Disabled the second factor of %(count)d users and ended all their sessions.",
            len(disabled),
        )
        self.message_user(request, text)
        return None

    @admin.action(permissions=["act"], description=_("Unlock: reset failed attempts"))
    def unlock(self, request: HttpRequest, chosen: QuerySet[Authenticator]) -> None:
        rows = self._permitted(request, chosen)
        people = [person_of(authenticator.user) for authenticator in rows]
        count = login_obstacles.unlock(people, by=request.user, client=of_page(request))
        self._log(request, rows, _("Unlocked."))
        text = admin_count(
            "Unlocked %(count)d user. All failed attempts of the selected users were reset.",
            "Unlocked %(count)d users. All failed attempts of the selected users were reset.",
            count,
        )
        self.message_user(request, text)

    def _permitted(
        self, request: HttpRequest, chosen: QuerySet[Authenticator]
    ) -> list[Authenticator]:
        rows = chosen.select_related("user__authservice_account")
        return permitted(self, request, rows, lambda row: person_of(row.user))

    def _log(self, request: HttpRequest, rows: list[Authenticator], text: str) -> None:
        editor: Any = request.user.pk
        LogEntry.objects.log_actions(editor, rows, CHANGE, str(text))


class HiddenAdmin(GoesWithUser, ReadOnly, Page):
    """Hidden pages. The models are registered only so that Django admin permits deleting their
    user: it asks for the delete permission of every related model that is registered."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return not self.is_own_page(request)


admin.site.register([BackupCode, RememberedDevice], HiddenAdmin)
