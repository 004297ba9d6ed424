"""Links in recoveries: which ones an account loses, and which ones it gets back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.utils import timezone

from authservice.core.users.person import Person
from authservice.kernel import events
from authservice.kernel.client import Client
from authservice.oauth import removed_links, storage
from authservice.oauth.storage import Link


def revoke_unverified(person: Person) -> bool:
    """Fills the slot `revoke_unverified_access`: the links were added by someone who had not proven
    that the address is theirs, possibly an attacker (account pre-hijacking)."""
    removed_links.count_recovery(person)
    return _revoke(person, storage.links().of_user(person.user.pk), "unproven")


def revoke_recent(person: Person, since: datetime) -> bool:
    """Fills the slot `revoke_recent_access`: the link of the sign-up stays."""
    removed_links.count_recovery(person)
    links = storage.links().of_user(person.user.pk)
    return _revoke(person, [link for link in links if _is_recent(link, person, since)], "recovery")


def distrust_earlier(person: Person) -> bool:
    """Fills the slot `distrust_earlier_access`."""
    links = storage.links()
    found = links.of_user(person.user.pk)
    for link in found:
        links.remove(link)
        links.add(replace(link, at_signup=False, added_at=timezone.now()))
    return bool(found)


def restore(person: Person, since: datetime) -> None:
    """Fills the slot `restore_access`: the owner's links that were removed since `since`; see
    `removed_links` for those that stay removed."""
    for link in removed_links.restore(person, since):
        events.record(
            "auth.oauth.linked", person, Client(), provider=link.provider, reason="recovery"
        )


def _is_recent(link: Link, person: Person, since: datetime) -> bool:
    """A link from before the first proof of the address counts as added at that proof."""
    if link.at_signup:
        return False
    proven_at = person.account.email_proven_at
    latest = max(filter(None, (link.added_at, proven_at)))
    return latest >= since


def _revoke(person: Person, links: list[Link], reason: str) -> bool:
    for link in links:
        storage.links().remove(link)
        events.record_by_staff(
            "auth.oauth.unlinked",
            None,
            person.user,
            Client(),
            provider=link.provider,
            reason=reason,
        )
    return bool(links)
