"""Fills the slot `support`: the organizations of a user, and invitations to their address."""

from __future__ import annotations

from collections.abc import Iterator

from authservice.core.users.person import Person
from authservice.kernel.phrases import admin_text as _
from authservice.kernel.support_parts import SHOWN, Cell, Link, Section, Support
from authservice.organization.models import Membership, OrganizationInvitation

_ORGANIZATION = "authservice_organization.organization"
_MEMBERSHIP = "authservice_organization.membership"
_INVITATION = "authservice_organization.organizationinvitation"


class MembershipSupport(Support):
    view = "authservice_organization.view_membership"
    further = ("authservice_organization.view_organization",)

    def sections(self, person: Person) -> Iterator[Section]:
        found = Membership.objects.filter(user=person.user.pk).select_related("organization")
        rows: list[list[Cell]] = [
            [
                Link(row.organization.name, _ORGANIZATION, row.organization_id),
                Link(row.role, _MEMBERSHIP, row.pk),
                row.joined_at,
            ]
            for row in found.order_by("-pk")[:SHOWN]
        ]
        more = Link(_("All memberships"), _MEMBERSHIP, query={"user__exact": person.id})
        yield Section(_("Organizations"), (_("name"), _("role"), _("joined")), rows, more)


class InvitationSupport(Support):
    view = "authservice_organization.view_organizationinvitation"

    def sections(self, person: Person) -> Iterator[Section]:
        key = person.email_key
        found = OrganizationInvitation.objects.filter(email_key=key).select_related("organization")
        rows: list[list[Cell]] = [
            [
                Link(row.organization.name, _INVITATION, row.pk),
                row.current_status,
                row.created_at,
                row.expires_at,
            ]
            for row in (found.order_by("-pk")[:SHOWN] if key else ())
        ]
        headings = (_("organization"), _("status"), _("sent"), _("expires"))
        yield Section(_("Invitations to organizations"), headings, rows)


memberships = MembershipSupport()
invitations = InvitationSupport()
