"""Fills the slot `support`: the providers that are linked to a user, for staff and for the export
of data. No token is shown."""

from __future__ import annotations

from collections.abc import Iterator

from authservice.core.users.person import Person
from authservice.kernel.languages import admin_text as _
from authservice.kernel.languages import phrase
from authservice.kernel.support_parts import REMOVED, Cell, Link, Part, Section, Support, stored
from authservice.oauth import storage
from authservice.oauth.models import LinkedAccount, RemovedLink, RestorableLink

_MODEL = "authservice_oauth.linkedaccount"
_COLUMNS = ("provider", "subject", "email", "at_signup", "added_at")


class LinkSupport(Support):
    view = "authservice_oauth.view_linkedaccount"

    def sections(self, person: Person) -> Iterator[Section]:
        links = LinkedAccount.objects.filter(user=person.user.pk).order_by("provider")
        headings = (_("provider"), _("e-mail at the provider"), _("linked"))
        rows: list[list[Cell]] = [
            [Link(row.provider, _MODEL, row.pk), row.email, row.added_at] for row in links
        ]
        yield Section(_("Linked providers"), headings, rows)

    def personal_data(self, person: Person) -> Iterator[Part]:
        links = storage.links().of_user(person.user.pk)
        restorable = RestorableLink.objects.filter(user=person.user.pk)
        removed = RemovedLink.objects.filter(user=person.user.pk)
        yield Part(
            name="linked_providers",
            purpose=phrase("Lets you log in with your account at another service."),
            after_deletion=REMOVED,
            rows=[{name: getattr(link, name) for name in _COLUMNS} for link in links],
        )
        yield Part(
            name="restorable_providers",
            purpose=phrase(
                "Accounts at other services whose link was removed from yours. For three days, the"
                " link in our mail restores them if it was not you who removed them."
            ),
            after_deletion=REMOVED,
            rows=stored(restorable, *_COLUMNS, "removed_at"),
        )
        yield Part(
            name="removed_providers",
            purpose=phrase(
                "Accounts at other services that were linked to yours: they are never linked again"
                " without you."
            ),
            after_deletion=REMOVED,
            rows=stored(removed, "provider", "removed_at"),
        )


support = LinkSupport()
