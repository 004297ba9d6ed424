"""Fills the slot `support`: the organizations of a user, and the invitations to the user's address.

Staff see them on the page of the user. The export of data has them too, together with the
invitations that the user sent and the organizations that the user founded. Of an organization that
the user is no member of, the export has only what concerns the user.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from authservice.core.invitations.models import KEPT_BY_SENDER
from authservice.core.users.person import Person
from authservice.kernel.languages import admin_text as _
from authservice.kernel.languages import phrase
from authservice.kernel.support_parts import (
    REMOVED,
    SHOWN,
    Cell,
    Link,
    Part,
    Row,
    Section,
    Support,
    stored,
)
from authservice.organization.models import Membership, Organization, OrganizationInvitation

_ORGANIZATION = "authservice_organization.organization"
_MEMBERSHIP = "authservice_organization.membership"
_INVITATION = "authservice_organization.organizationinvitation"
_COLUMNS = ("id", "email", "role", "status", "created_at", "expires_at", "closed_at")
_INVITATION_COLUMNS = (*_COLUMNS, "organization_id", "organization__name", "may_read")
_OF_FOUNDER = ("id", "created_at")  # of an organization that the founder is no member of


class MembershipSupport(Support):
    view = "authservice_organization.view_membership"
    extra_permissions = ("authservice_organization.view_organization",)

    def sections(self, person: Person) -> Iterator[Section]:
        joined = Membership.objects.filter(user=person.user.pk).select_related("organization")
        rows: list[list[Cell]] = [
            [
                Link(row.organization.name, _ORGANIZATION, row.organization_id),
                Link(row.role, _MEMBERSHIP, row.pk),
                row.joined_at,
            ]
            for row in joined.order_by("-pk")[:SHOWN]
        ]
        all_memberships = Link(_("All memberships"), _MEMBERSHIP, query={"user__exact": person.id})
        yield Section(
            _("Organizations"), (_("name"), _("role"), _("joined")), rows, all_memberships
        )

    def personal_data(self, person: Person) -> Iterator[Part]:
        joined = Membership.objects.filter(user=person.user.pk)
        founded = Organization.objects.filter(founder=person.user.pk).annotate(
            may_read=Exists(joined.filter(organization=OuterRef("pk")))
        )
        founded_columns = (*_OF_FOUNDER, "name", "slug", "logo_url", "metadata", "may_read")
        organization_columns = ("organization_id", "organization__name", "organization__slug")
        yield Part(
            name="memberships",
            purpose=phrase("Organizations of which you are a member, and what you may do there."),
            after_deletion=REMOVED,
            rows=stored(joined, *organization_columns, "role", "joined_at", shown=_plain),
        )
        yield Part(
            name="founded_organizations",
            purpose=phrase("Organizations that you have founded."),
            after_deletion=phrase("The organization stays if it has other members, without you."),
            rows=stored(founded, *founded_columns, shown=_founded),
        )


class InvitationSupport(Support):
    view = "authservice_organization.view_organizationinvitation"

    def sections(self, person: Person) -> Iterator[Section]:
        key = person.email_key
        received = OrganizationInvitation.objects.filter(email_key=key).select_related(
            "organization"
        )
        rows: list[list[Cell]] = [
            [
                Link(row.organization.name, _INVITATION, row.pk),
                row.current_status,
                row.created_at,
                row.expires_at,
            ]
            for row in (received.order_by("-pk")[:SHOWN] if key else ())
        ]
        headings = (_("organization"), _("status"), _("sent"), _("expires"))
        yield Section(_("Invitations to organizations"), headings, rows)

    def personal_data(self, person: Person) -> Iterator[Part]:
        is_member = _is_member(person)
        sent = OrganizationInvitation.objects.filter(inviter=person.user.pk)
        yield Part(
            name="organization_invitations_sent",
            purpose=phrase("Invitations to organizations that you have sent."),
            after_deletion=REMOVED,
            rows=_invitations(sent, may_read=is_member),
        )
        received = OrganizationInvitation.objects.filter(email_key=person.email_key)
        # Those that `GET /org/my/invitations` lists, with the name.
        answerable = OrganizationInvitation.objects.pending().filter(
            pk=OuterRef("pk"), organization__active=True
        )
        yield Part(
            name="organization_invitations_received",
            purpose=phrase("Invitations to organizations that were sent to your address."),
            after_deletion=KEPT_BY_SENDER,
            # Another user may have the same address, as long as nobody has verified it.
            rows=_invitations(received, may_read=is_member | Q(Exists(answerable)))
            if person.email_verified
            else (),
        )


def _is_member(person: Person) -> Q:
    """Whether the user is a member of the organization of an invitation."""
    own = Membership.objects.filter(user=person.user.pk, organization=OuterRef("organization"))
    return Q(Exists(own))


def _invitations(invitations: QuerySet[OrganizationInvitation], *, may_read: Q) -> Iterator[Row]:
    return stored(invitations.annotate(may_read=may_read), *_INVITATION_COLUMNS, shown=_invitation)


def _invitation(row: dict[str, Any]) -> Row:
    """Without the name of an organization that the user may not read."""
    if not row.pop("may_read"):
        del row["organization__name"]
    return _plain(row)


def _founded(row: dict[str, Any]) -> Row:
    """An organization goes on without its founder: what it is called and stores today is the data
    of its members."""
    if row.pop("may_read"):
        return row
    return {name: row[name] for name in _OF_FOUNDER}


def _plain(row: dict[str, Any]) -> Row:
    """The row with names such as `organization_name` for `organization__name`."""
    return {name.replace("__", "_"): value for name, value in row.items()}


memberships = MembershipSupport()
invitations = InvitationSupport()
