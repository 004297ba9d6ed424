"""Fills the slot `support`: the invitations to the address of a user for staff, and with those that
the user sent for the export of data. No token is shown."""

from __future__ import annotations

from collections.abc import Iterator

from authservice.core.invitations.models import KEPT_BY_SENDER
from authservice.core.users.person import Person
from authservice.invitation.models import PlatformInvitation
from authservice.kernel.languages import admin_text as _
from authservice.kernel.languages import phrase
from authservice.kernel.support_parts import (
    REMOVED,
    SHOWN,
    Cell,
    Link,
    Part,
    Section,
    Support,
    stored,
)

_MODEL = "authservice_invitation.platforminvitation"
_COLUMNS = ("id", "email", "purpose", "status", "created_at", "expires_at", "closed_at")


class InvitationSupport(Support):
    view = "authservice_invitation.view_platforminvitation"

    def sections(self, person: Person) -> Iterator[Section]:
        key = person.email_key
        invitations = (
            PlatformInvitation.objects.filter(email_key=key).order_by("-pk") if key else ()
        )
        rows: list[list[Cell]] = [
            [Link(row.purpose, _MODEL, row.pk), row.current_status, row.created_at, row.expires_at]
            for row in invitations[:SHOWN]
        ]
        headings = (_("purpose"), _("status"), _("sent"), _("expires"))
        yield Section(_("Invitations"), headings, rows)

    def personal_data(self, person: Person) -> Iterator[Part]:
        sent = PlatformInvitation.objects.filter(inviter=person.user.pk)
        yield Part(
            name="invitations_sent",
            purpose=phrase("Invitations to this service that you have sent."),
            after_deletion=REMOVED,
            rows=stored(sent, *_COLUMNS, "metadata"),
        )
        received = PlatformInvitation.objects.filter(email_key=person.email_key)
        yield Part(
            name="invitations_received",
            purpose=phrase("Invitations to this service that were sent to your address."),
            after_deletion=KEPT_BY_SENDER,
            # Another user may have the same address, as long as nobody has verified it.
            rows=stored(received, *_COLUMNS) if person.email_verified else (),
        )


support = InvitationSupport()
