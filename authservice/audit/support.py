"""Fills the slot `support`: the newest entries about a user, and addresses of failed attempts."""

from __future__ import annotations

from collections.abc import Iterator

from authservice.audit.models import Entry
from authservice.audit.queries import EntryFilter, page_of_user
from authservice.core.users.person import Person
from authservice.kernel.paging import Page
from authservice.kernel.phrases import admin_text as _
from authservice.kernel.support_parts import SHOWN, Cell, Link, Section, Support

_MODEL = "authservice_audit.entry"


class LogSupport(Support):
    view = "authservice_audit.view_entry"

    def sections(self, person: Person) -> Iterator[Section]:
        newest = Page(offset=0, limit=SHOWN, sort_field="created_at", sort_dir="desc")
        entries, _total = page_of_user(person.id, newest, EntryFilter())
        rows: list[list[Cell]] = [
            [
                Link(entry.created_at, _MODEL, entry.pk),
                entry.action,
                entry.details,
                _by(entry, person),
                entry.ip_address,
            ]
            for entry in entries
        ]
        more = Link(_("All log entries"), _MODEL, query={"q": person.id})
        headings = (_("time"), _("action"), _("details"), _("by"), _("address"))
        yield Section(_("Log entries"), headings, rows, more)

    def addresses(self, person: Person, action: str, number: int) -> list[str]:
        found = Entry.objects.filter(actor_id=person.id, action=action).order_by("-pk")
        newest = found.values_list("ip_address", flat=True)[:number]
        return list(dict.fromkeys(address for address in newest if address))


def _by(entry: Entry, person: Person) -> str:
    if entry.actor_id == person.id:
        return _("the user")
    return {"admin": _("staff"), "system": _("the service")}.get(entry.actor_type, entry.actor_type)


support = LogSupport()
