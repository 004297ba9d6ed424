"""Links in recoveries: which ones an account loses, and which ones it gets back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from authservice.core.users.person import Person
from authservice.kernel import clock, events
from authservice.kernel.client import Client
from authservice.kernel.interfaces import AccountAccess
from authservice.oauth import removed_links, storage
from authservice.oauth.storage import Link


class LinkAccess(AccountAccess):
    """Fills the slot `account_access`."""

    @clock.once
    def first_proof(self, person: Person) -> bool:
        """The links were added by someone who had not proven that the address is theirs, possibly
        an attacker (account pre-hijacking)."""
        removed_links.count_recovery(person)
        return _revoke(person, storage.links().of_user(person.user.pk), "unproven")

    @clock.once
    def recover(self, person: Person, since: datetime) -> bool:
        """The link of the sign-up stays."""
        removed_links.count_recovery(person)
        links = storage.links().of_user(person.user.pk)
        recent = [link for link in links if _is_recent(link, person, since)]
        return _revoke(person, recent, "recovery")

    @clock.once
    def restore(self, person: Person, since: datetime) -> None:
        """The owner's links; see `removed_links` for those that stay removed."""
        for link in removed_links.restore(person, since):
            events.record(
                "auth.oauth.linked", person, Client(), provider=link.provider, reason="recovery"
            )

    @clock.once
    def distrust(self, person: Person) -> bool:
        links = storage.links()
        found = links.of_user(person.user.pk)
        for link in found:
            links.remove(link)
            links.add(replace(link, at_signup=False, added_at=clock.now()))
        return bool(found)


account_access = LinkAccess()


def _is_recent(link: Link, person: Person, since: datetime) -> bool:
    """A link from before the first proof of the address counts as added at that proof."""
    if link.at_signup:
        return False
    proven_at = person.account.email_proven_at
    latest = max(filter(None, (link.added_at, proven_at)))
    return latest >= since


def _revoke(person: Person, links: list[Link], reason: str) -> bool:
    for link in links:
        removed_links.remove(link)
        events.record_by_staff(
            "auth.oauth.unlinked",
            None,
            person.user,
            Client(),
            provider=link.provider,
            reason=reason,
        )
    return bool(links)
