"""Fills the slot `support`: the newest entries about a user and addresses of failed attempts for
staff, and all entries for the export of data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import Q

from authservice.audit.models import Entry
from authservice.audit.queries import EntryFilter, page_of_user
from authservice.core.users.person import Person
from authservice.kernel.interfaces import Page
from authservice.kernel.languages import admin_text as _
from authservice.kernel.languages import phrase
from authservice.kernel.support_parts import SHOWN, Cell, Link, Part, Row, Section, Support, stored

_MODEL = "authservice_audit.entry"
_COLUMNS = (
    *("id", "action", "severity", "details", "actor_id", "actor_type", "target_id"),
    *("target_type", "topic", "metadata", "created_at"),
)
_ACTORS = {"admin": _("staff"), "system": _("the service")}
_OF_ACTOR = ("ip_address", "user_agent")  # never shown to the target of an action
_AFTER_DELETION = phrase("Kept for as long as the log keeps its entries, to prove what was done.")


class LogSupport(Support):
    view = "authservice_audit.view_entry"

    def sections(self, person: Person) -> Iterator[Section]:
        newest = Page(offset=0, limit=SHOWN, sort_field="created_at", sort_dir="desc")
        entries, _total = page_of_user(person.id, newest, EntryFilter())
        rows: list[list[Cell]] = []
        for entry in entries:
            by = _ACTORS.get(entry.actor_type, entry.actor_type)
            if entry.actor_id == person.id:
                by = _("the user")
            link = Link(entry.created_at, _MODEL, entry.pk)
            rows.append([link, entry.action, entry.details, by, entry.ip_address])
        all_entries = Link(_("All log entries"), _MODEL, query={"q": person.id})
        headings = (_("time"), _("action"), _("details"), _("by"), _("address"))
        yield Section(_("Log entries"), headings, rows, all_entries)

    def personal_data(self, person: Person) -> Iterator[Part]:
        by_user = Q(actor_id=person.id)
        about = Q(target_id=person.id, target_type="user") & ~by_user
        yield Part(
            name="log_of_your_actions",
            purpose=phrase("Records what you did, so that you and staff notice attacks."),
            after_deletion=_AFTER_DELETION,
            rows=stored(Entry.objects.filter(by_user), *_COLUMNS, *_OF_ACTOR, shown=_exported),
        )
        # Without the address and the browser of the other actor, as in `/me/audit`.
        yield Part(
            name="log_of_actions_on_you",
            purpose=phrase("Records what others did to your account, such as staff."),
            after_deletion=_AFTER_DELETION,
            rows=stored(Entry.objects.filter(about), *_COLUMNS, shown=_of_other),
        )

    def addresses(self, person: Person, action: str, number: int) -> list[str]:
        entries = Entry.objects.filter(actor_id=person.id, action=action).order_by("-pk")
        newest = entries.values_list("ip_address", flat=True)[:number]
        return list(dict.fromkeys(address for address in newest if address))


def _exported(row: dict[str, Any]) -> Row:
    return {**row, "metadata": json.loads(row["metadata"])}


def _of_other(row: dict[str, Any]) -> Row:
    """Without the request id too, as in `/me/audit`: the request was that of the other actor."""
    exported = _exported(row)
    return {**exported, "metadata": {**exported["metadata"], "request_id": ""}}


support = LogSupport()
