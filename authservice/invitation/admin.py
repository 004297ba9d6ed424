"""Django admin: staff invite an address; the list of invitations, and the actions to send them
again and to cancel them.

Imported only by the autodiscovery of Django admin. No token and no digest is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from authservice.core.invitations.models import Status
from authservice.core.staff.admin_pages import (
    ActionsOnly,
    ApiRules,
    LineFeeds,
    ReadOnly,
    person_of,
)
from authservice.invitation import platform_invitations
from authservice.invitation.conf import conf
from authservice.invitation.models import PlatformInvitation
from authservice.invitation.platform_invitations import NewInvitation
from authservice.invitation.views import DEFAULT_PURPOSE, InvitationIn
from authservice.kernel.errors import Fault
from authservice.kernel.http.incoming import of_page
from authservice.kernel.languages import admin_text as _
from authservice.kernel.rules import EVERYONE

if TYPE_CHECKING:
    Page = admin.ModelAdmin[Any]
else:
    Page = admin.ModelAdmin


class InvitationForm(ApiRules):
    schema = InvitationIn
    # Sends the invitation of the member of staff who has filled in the form.
    invite: Callable[[NewInvitation], tuple[PlatformInvitation, bool]]

    class Meta:
        model = PlatformInvitation
        fields = ("email", "purpose", "metadata")
        field_classes: ClassVar = {"metadata": LineFeeds}

    def clean(self) -> dict[str, Any]:
        """Also sends a valid invitation: only then it is known whether the rules allow it, and the
        form must be shown again if they do not."""
        cleaned = super().clean()
        if self.errors:
            return cleaned
        try:
            self.invitation, self.mailed = self.invite(NewInvitation(**cleaned))
        except Fault as fault:
            if not fault.texts:
                self.add_error(None, fault.text)
            for name, texts in fault.texts.items():
                self.add_error(name, texts)
        return cleaned


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
    form = InvitationForm

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Skips `ReadOnly`, which refuses all additions.
        may_add = super(ReadOnly, self).has_add_permission(request)
        if not may_add or conf.who_may_invite == EVERYONE:
            return may_add  # without a query: each page of Django admin has links to add rows
        return platform_invitations.may_invite(person_of(request.user))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return InvitationForm.Meta.fields if obj is None else self.fields

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"purpose": next(iter(conf.allowed_purposes), DEFAULT_PURPOSE)}

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any
    ) -> Any:
        form: Any = super().get_form(request, obj, change, **options)
        by, client = request.user, of_page(request)
        form.invite = staticmethod(
            partial(platform_invitations.invite_by_staff, by=by, client=client)
        )
        return form

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> PlatformInvitation:
        invitation: PlatformInvitation = form.invitation
        return invitation

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """The form has stored it."""
        if not form.mailed:
            text = _("No e-mail was sent: the recipient has received too many invitations today.")
            self.message_user(request, text, messages.WARNING)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """There is nothing more to store."""

    @admin.display(description=_("status"))
    def shown_status(self, invitation: PlatformInvitation) -> str:
        return str(Status(invitation.current_status).label)

    @admin.action(permissions=["act"], description=_("Send again"))
    def send_again(self, request: HttpRequest, chosen: QuerySet[PlatformInvitation]) -> None:
        self.run(request, chosen, platform_invitations.resend_by_staff, _("Sent again"))

    @admin.action(permissions=["act"], description=_("Cancel"))
    def cancel(self, request: HttpRequest, chosen: QuerySet[PlatformInvitation]) -> None:
        self.run(request, chosen, platform_invitations.cancel_by_staff, _("Cancelled"))
