"""Fills the slot `support`: the providers that are linked to a user. No token is shown."""

from __future__ import annotations

from collections.abc import Iterator

from authservice.core.users.person import Person
from authservice.kernel.phrases import admin_text as _
from authservice.kernel.support_parts import Cell, Link, Section, Support
from authservice.oauth.models import LinkedAccount

_MODEL = "authservice_oauth.linkedaccount"


class LinkSupport(Support):
    view = "authservice_oauth.view_linkedaccount"

    def sections(self, person: Person) -> Iterator[Section]:
        links = LinkedAccount.objects.filter(user=person.user.pk).order_by("provider")
        headings = (_("provider"), _("e-mail at the provider"), _("linked"))
        rows: list[list[Cell]] = [
            [Link(row.provider, _MODEL, row.pk), row.email, row.added_at] for row in links
        ]
        yield Section(_("Linked providers"), headings, rows)


support = LinkSupport()
