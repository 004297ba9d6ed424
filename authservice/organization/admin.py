"""Django admin: organizations with their members, and invitations.

Imported only by the autodiscovery of Django admin. Members are changed by actions, which keep an
owner and write audit entries. No token and no digest is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from authservice.core.invitations.models import Status
from authservice.core.staff.admin_lists import DeclaredLookups
from authservice.core.staff.admin_pages import (
    ActionsOnly,
    ApiRules,
    LineFeeds,
    LinksToPerson,
    ReadOnly,
)
from authservice.kernel import clock
from authservice.kernel.http.incoming import of_page
from authservice.kernel.languages import admin_text as _
from authservice.organization import organizations, staff
from authservice.organization.errors import SlugTaken
from authservice.organization.models import Membership, Organization, OrganizationInvitation
from authservice.organization.serializers import OrganizationChangesIn, Slug

if TYPE_CHECKING:
    Page = admin.ModelAdmin[Any]
    Inline = admin.TabularInline[Any, Any]
else:
    Page, Inline = admin.ModelAdmin, admin.TabularInline

_SHOWN = 50  # rows of an inline; the page of the rows has all of them


class OrganizationByStaff(OrganizationChangesIn):
    """Staff change the slug too, which the API does not."""

    slug = Slug(required=False)


class OrganizationForm(ApiRules):
    schema = OrganizationByStaff

    class Meta:
        model = Organization
        fields = ("name", "slug", "logo_url", "metadata", "active")
        field_classes: ClassVar = {"metadata": LineFeeds}

    def validate_unique(self) -> None:
        super().validate_unique()
        # After the look for another organization with the slug: if that one is deleted meanwhile,
        # its reservation can be read by now.
        has_new_slug = "slug" in self.changed_data and "slug" in self.cleaned_data
        if has_new_slug and organizations.is_reserved_slug(self.cleaned_data["slug"]):
            self.add_error("slug", SlugTaken().text)

    def changes(self) -> dict[str, dict[str, Any]]:
        """The changed fields with their values `before` and `after`."""
        return {
            name: {"before": self.initial[name], "after": self.cleaned_data[name]}
            for name in self.changed_data
            if self.initial[name] != self.cleaned_data[name]
        }


class ShownRows(ReadOnly, Inline):
    """The newest rows of an organization, read-only."""

    extra = 0
    can_delete = False
    show_change_link = True
    _of_users = True  # whether the rows have a `user`; else an `inviter`

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request).select_related("user" if self._of_users else "inviter")
        match = request.resolver_match
        org_pk = match.kwargs.get("object_id") if match else None
        newest = rows.filter(organization=org_pk).order_by("-pk")[:_SHOWN] if org_pk else []
        # By their keys: the formset filters what this returns, and a slice cannot be filtered.
        return rows.filter(pk__in=[row.pk for row in newest]).order_by("-pk")


class MembershipInline(ShownRows):
    model = Membership
    fields = ("user", "role", "joined_at")


class InvitationInline(ShownRows):
    model = OrganizationInvitation
    fields = ("email", "role", "inviter", "status", "expires_at")
    _of_users = False


@admin.register(Organization)
class OrganizationAdmin(DeclaredLookups, Page):
    form = OrganizationForm
    fields = (
        *("name", "slug", "founder", "logo_url", "metadata", "active"),
        *("created_at", "updated_at"),
    )
    readonly_fields = ("founder", "created_at", "updated_at")
    list_display = ("name", "slug", "active", "created_at")
    list_filter = ("active", "created_at")
    search_fields = ("name", "slug", "memberships__user__authservice_account__email")
    ordering = ("-pk",)
    show_full_result_count = False
    inlines = (MembershipInline, InvitationInline)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # `authservice_organizations create` asks for the owner

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not (changes := form.changes()):
            return
        obj.updated_at = clock.now()
        # No other field: the API may have changed it since this request read the row.
        obj.save(update_fields=[*changes, "updated_at"])
        staff.record_update(obj, by=request.user, client=of_page(request), changes=changes)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        staff.delete(obj, by=request.user, client=of_page(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for organization in queryset:
            self.delete_model(request, organization)


@admin.register(Membership)
class MembershipAdmin(LinksToPerson, ActionsOnly, Page):
    fields = ("organization", "person", "role", "joined_at")
    ordering = ("-pk",)
    show_full_result_count = False
    list_display = ("organization", "person", "role", "joined_at")
    list_select_related = ("organization", "user__authservice_account")
    list_filter = ("role", "joined_at")
    search_fields = ("organization__name", "organization__slug", "user__authservice_account__email")
    exact_lookups = ("user__exact",)
    actions = ("transfer_ownership", "remove_members")

    @admin.action(permissions=["act"], description=_("Transfer ownership to this member"))
    def transfer_ownership(self, request: HttpRequest, chosen: QuerySet[Membership]) -> None:
        rows = list(chosen.select_related("organization", "user"))
        if len({row.organization_id for row in rows}) < len(rows):
            self.message_user(request, _("Select one member of each organization."), "ERROR")
            return
        self.run(request, rows, _transfer, _("Transferred"))

    @admin.action(permissions=["act"], description=_("Remove from the organization"))
    def remove_members(self, request: HttpRequest, chosen: QuerySet[Membership]) -> None:
        rows = chosen.select_related("organization", "user")
        self.run(request, rows, staff.remove, _("Removed"))


@admin.register(OrganizationInvitation)
class OrganizationInvitationAdmin(ActionsOnly, Page):
    fields = (
        *("organization", "email", "role", "inviter", "shown_status"),
        *("created_at", "expires_at", "closed_at"),
    )
    ordering = ("-pk",)
    show_full_result_count = False
    list_display = ("email", "organization", "role", "inviter", "shown_status", "expires_at")
    list_select_related = ("organization", "inviter")
    list_filter = ("status", "role", "created_at")
    search_fields = ("email", "organization__name", "organization__slug")
    actions = ("send_again", "cancel")

    @admin.display(description=_("status"))
    def shown_status(self, invitation: OrganizationInvitation) -> str:
        return str(Status(invitation.current_status).label)

    @admin.action(permissions=["act"], description=_("Send again"))
    def send_again(self, request: HttpRequest, chosen: QuerySet[OrganizationInvitation]) -> None:
        self.run(request, chosen.select_related("organization"), staff.resend, _("Sent again"))

    @admin.action(permissions=["act"], description=_("Cancel"))
    def cancel(self, request: HttpRequest, chosen: QuerySet[OrganizationInvitation]) -> None:
        self.run(request, chosen.select_related("organization"), staff.cancel, _("Cancelled"))


def _transfer(member: Membership, *, by: Any, client: Any) -> None:
    staff.transfer(member.organization, member.user, by=by, client=client)
