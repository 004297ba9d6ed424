"""Django admin: the passkeys of users, to be read and removed. No id and no key is shown.

Imported only by the autodiscovery of Django admin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from authservice.core.staff import admin_lists
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
from authservice.passkeys import own_passkeys
from authservice.passkeys.models import Handle, Passkey

if TYPE_CHECKING:
    Page = admin.ModelAdmin[Any]
else:
    Page = admin.ModelAdmin


@admin.register(Passkey)
class PasskeyAdmin(LinksToPerson, ActionsOnly, RowGuard, Page):
    fields = (
        "person",
        "name",
        "verifies",
        "second_factor",
        "attested",
        "backup_eligible",
        "backed_up",
        "aaguid",
        "transports",
        "created_at",
        "last_used_at",
    )
    list_display = ("person", "name", "verifies", "second_factor", "created_at", "last_used_at")
    list_display_links = ("name",)  # `person` is a link already
    list_select_related = ("user__authservice_account",)
    list_filter = ("verifies", "second_factor", "created_at")
    search_fields = ("user__authservice_account__email", "user__authservice_account__username")
    ordering = ("-pk",)
    show_full_result_count = False
    actions = ("remove",)

    @admin.action(permissions=["act"], description=_("Remove from the account"))
    def remove(self, request: HttpRequest, chosen: QuerySet[Passkey]) -> HttpResponse | None:
        question = _(
            "These passkeys no longer log in and are no longer asked for after the password. The"
            " sessions that began with a passkey end, all sessions if the passkey was a second"
            " factor, and the users get an e-mail."
        )
        if page := admin_lists.ask_to_confirm(self, request, chosen, question):
            return page
        rows = chosen.select_related("user__authservice_account")
        passkeys = permitted(self, request, rows, lambda row: person_of(row.user))
        client = of_page(request)
        removed = []
        for passkey in passkeys:
            person = lookup.get_person(passkey.user)
            this_passkey = Passkey.objects.filter(pk=passkey.pk)
            if own_passkeys.remove_by_staff(person, this_passkey, by=request.user, client=client):
                removed.append(passkey)
        editor: Any = request.user.pk
        LogEntry.objects.log_actions(editor, removed, CHANGE, str(_("Removed.")))
        text = admin_count(
            "Removed %(count)d passkey.", "Removed %(count)d passkeys.", len(removed)
        )
        self.message_user(request, text)
        return None


@admin.register(Handle)
class HandleAdmin(GoesWithUser, ReadOnly, Page):
    """Hidden. The model is registered only so that Django admin permits deleting its user: it asks
    for the delete permission of every related model that is registered."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return not self.is_own_page(request)
