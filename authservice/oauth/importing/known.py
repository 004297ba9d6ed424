"""The links that are stored here, read and written for a whole batch at once.

A storage of the host project (`OAUTH.OAUTH_STORAGE`) is called for each link, since its protocol
has no methods for several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction

from authservice.kernel import databases
from authservice.kernel.imports import REFUSED
from authservice.oauth import storage
from authservice.oauth.models import LinkedAccount
from authservice.oauth.storage import DatabaseLinks, Link, LinkTaken

TAKEN = "the user of the provider is linked to another account"
SECOND = "the account is linked to another user of the provider"


@dataclass
class KnownLinks:
    """`owners` has the account of each user of a provider, `subjects` the user of the provider of
    each account."""

    owners: dict[tuple[str, str], Any] = field(default_factory=dict)
    subjects: dict[tuple[Any, str], str] = field(default_factory=dict)

    def read(self, links: Sequence[Link]) -> None:
        """Read what is stored of these links."""
        stored = _read_all(links) if _is_built_in() else _read_each(links)
        for link in stored:
            self.note(link)

    def note(self, link: Link) -> None:
        self.owners[link.provider, link.subject] = link.user_id
        self.subjects[link.user_id, link.provider] = link.subject

    def has(self, link: Link) -> bool:
        return bool(self.owners.get((link.provider, link.subject)) == link.user_id)

    def conflict(self, link: Link) -> str:
        """Why the link contradicts a stored one; "" if it does not."""
        if self.has(link):
            return ""
        if (link.provider, link.subject) in self.owners:
            return TAKEN
        return SECOND if (link.user_id, link.provider) in self.subjects else ""

    def store(self, links: Sequence[Link]) -> dict[Link | None, str]:
        """Store the links. Returns those that a concurrent login has taken since they were read,
        each with its conflict, or with "" if the login has stored this very link."""
        if _is_built_in() and _inserted(links):
            return {}
        taken: dict[Link | None, str] = {}
        for link in links:
            try:
                storage.links().add(link)
            except LinkTaken:
                present = KnownLinks()
                present.read([link])
                taken[link] = "" if present.has(link) else present.conflict(link) or REFUSED
        return taken


def _is_built_in() -> bool:
    # A subclass may do more for each link, so it is called for each.
    return type(storage.links()) is DatabaseLinks


def _read_all(links: Sequence[Link]) -> list[Link]:
    """In two statements; each uses one of the table's unique indexes."""
    providers = {link.provider for link in links}
    keys = {storage.subject_key(link.subject) for link in links}
    rows = LinkedAccount.objects.filter(provider__in=providers)
    found = rows.filter(subject_key__in=keys)
    more = rows.filter(user__in={link.user_id for link in links})
    return [storage.of_row(row) for row in (*found, *more)]


def _read_each(links: Sequence[Link]) -> list[Link]:
    found: list[Link] = []
    for link in links:
        owned = storage.links().find(link.provider, link.subject)
        found += [owned] if owned else []
        found += storage.links().of_user(link.user_id)
    return found


def _inserted(links: Sequence[Link]) -> bool:
    using = databases.primary()
    try:
        with transaction.atomic(using=using):
            LinkedAccount.objects.using(using).bulk_create([storage.to_row(one) for one in links])
    except IntegrityError:
        return False
    return True
