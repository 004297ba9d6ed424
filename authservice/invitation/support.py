"""Fills the slot `support`: the invitations to the address of a user. No token is shown."""

from __future__ import annotations

from collections.abc import Iterator

from authservice.core.users.person import Person
from authservice.invitation.models import PlatformInvitation
from authservice.kernel.phrases import admin_text as _
from authservice.kernel.support_parts import SHOWN, Cell, Link, Section, Support

_MODEL = "authservice_invitation.platforminvitation"


class InvitationSupport(Support):
    view = "authservice_invitation.view_platforminvitation"

    def sections(self, person: Person) -> Iterator[Section]:
        key = person.email_key
        found = PlatformInvitation.objects.filter(email_key=key).order_by("-pk") if key else ()
        rows: list[list[Cell]] = [
            [Link(row.purpose, _MODEL, row.pk), row.current_status, row.created_at, row.expires_at]
            for row in found[:SHOWN]
        ]
        headings = (_("purpose"), _("status"), _("sent"), _("expires"))
        yield Section(_("Invitations"), headings, rows)


support = InvitationSupport()
