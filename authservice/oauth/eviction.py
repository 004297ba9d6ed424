"""Links to providers: how users, staff and recoveries remove them, which removed links "this was
not me" restores, and whether an account has a link to log in with.

Every removal leaves a record of the account, the provider and a keyed digest of the subject. Then
this user of the provider is never linked to the account by its address again. Otherwise the next
login of a removed intruder would find the account by the address and link it again. The sessions
that began with the provider end too.

An intruder with a stolen session can remove links too: those of the owner, but also one that the
intruder added shortly before. Restoring that one would let the intruder in again. So a link comes
back only if it was the owner's when it was removed: the address was proven, and the link had
existed for 72 hours, in which the owner could notice it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q, QuerySet

from authservice.core.credentials import one_time, recovery_number
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events, secret
from authservice.kernel.client import Client
from authservice.kernel.interfaces import AccountAccess
from authservice.oauth import provider_settings, storage
from authservice.oauth.models import RemovedLink, RestorableLink
from authservice.oauth.storage import Link, LinkTaken

# As long as the link "this was not me" of a security notice is valid, which restores links.
_RESTORABLE_FOR = timedelta(hours=72)
_SUBJECT = "oauth-removed"
# The reason for which sessions end.
_REASON = "provider unlinked"


class LinkAccess(AccountAccess):
    """Fills the slot `account_access`: which links an account loses or gets back in a recovery, and
    whether one is left to log in with."""

    @clock.once
    def first_proof(self, person: Person) -> bool:
        """Removes all links: someone added them who had not proven that the address is theirs,
        possibly an attacker (account pre-hijacking)."""
        count_recovery(person)
        return _revoke(person, storage.links().of_user(person.user.pk), "unproven")

    @clock.once
    def recover(self, person: Person, since: datetime) -> bool:
        """Removes the links that were added since a given time; the link of the sign-up stays."""
        count_recovery(person)
        links = storage.links().of_user(person.user.pk)
        # A link from before the first proof of the address counts as added at that proof.
        proven_at = person.account.email_proven_at
        proven_since = bool(proven_at and proven_at >= since)
        recent = [
            link
            for link in links
            if not link.at_signup and (proven_since or link.added_at >= since)
        ]
        return _revoke(person, recent, "recovery")

    @clock.once
    def restore(self, person: Person, since: datetime) -> None:
        """Restores the owner's links; see `restore_owned` for links that stay removed."""
        for link in restore_owned(person, since):
            events.record(
                "auth.oauth.linked", person, Client(), provider=link.provider, reason="recovery"
            )

    @clock.once
    def distrust(self, person: Person) -> bool:
        """Makes all links count as added now, also that of the sign-up, so that `recover` removes
        them. A storage has no method that changes a link."""
        link_storage = storage.links()
        links = link_storage.of_user(person.user.pk)
        for link in links:
            link_storage.remove(link)
            link_storage.add(replace(link, at_signup=False, added_at=clock.now()))
        return bool(links)

    def is_set_up(self, person: Person) -> bool:
        return bool(storage.links().of_user(person.user.pk))

    def can_log_in(self, person: Person) -> bool:
        # Links remain after the operator has disabled their provider or removed it from the
        # settings: nobody can log in with these links.
        links = storage.links().of_user(person.user.pk)
        entries = [provider_settings.configured().get(link.provider) for link in links]
        return any(entry is not None and entry.enabled for entry in entries)


account_access = LinkAccess()


def _revoke(person: Person, links: list[Link], reason: str) -> bool:
    for link in links:
        remove(link)
        events.record_by_staff(
            "auth.oauth.unlinked",
            None,  # actor `system`
            person.user,
            Client(),
            provider=link.provider,
            reason=reason,
        )
    return bool(links)


@databases.inside_transaction
def remove(link: Link, *, current_session: Session | None = None) -> bool:
    """Remove a link and leave a record; False if it is gone already. Every removal calls this.

    The sessions that began with the provider end, except `current_session`, and so do logins with
    it that wait for a second factor. The caller holds the lock of the user's row: a concurrent
    login with the link then either finds it removed, or its session ends here.
    """
    method = provider_settings.login_method(link.provider)
    one_time.revoke_logins(link.user_id, method)
    sessions.end_begun_with(link.user_id, method, current_session, _REASON)
    removed = storage.links().remove(link)
    if removed:
        record = RemovedLink(
            user_id=link.user_id,
            provider=link.provider,
            subject_digest=secret.digest(_SUBJECT, link.subject),
            key_id=secret.key_ids(_SUBJECT)[0],
            removed_at=clock.now(),
        )
        RemovedLink.objects.bulk_create([record], ignore_conflicts=True)
    return removed


def forget(link: Link) -> None:
    """Delete the record of a link that exists again."""
    digests = secret.digests(_SUBJECT, link.subject)
    rows = RemovedLink.objects.filter(user=link.user_id, provider=link.provider)
    rows.filter(subject_digest__in=digests).delete()


def was_removed(user_id: Any, provider: str, subject: str) -> bool:
    """Whether this user of the provider was linked to the account and then removed.

    If the key of a record has been withdrawn since, the record matches every user of the provider:
    no digest can be compared with it any more. The owner can still link while signed in.
    """
    same_subject = Q(subject_digest__in=secret.digests(_SUBJECT, subject))
    unreadable = ~Q(key_id__in=secret.key_ids(_SUBJECT))
    rows = RemovedLink.objects.filter(same_subject | unreadable, user=user_id, provider=provider)
    return rows.exists()


def records_of(users: Collection[Any]) -> set[tuple[Any, str, str]]:
    """The user, provider and digest of every record of these users; the digest is "" if its key
    was withdrawn."""
    rows = RemovedLink.objects.filter(user__in=users)
    key_ids = secret.key_ids(_SUBJECT)
    return {
        (user, provider, digest if key_id in key_ids else "")
        for user, provider, digest, key_id in rows.values_list(
            "user_id", "provider", "subject_digest", "key_id"
        )
    }


def is_among(link: Link, records: set[tuple[Any, str, str]]) -> bool:
    """Whether one of the records of `records_of` is that of this link, see `was_removed`."""
    digests = ("", *secret.digests(_SUBJECT, link.subject))
    return any((link.user_id, link.provider, digest) in records for digest in digests)


def remember(link: Link, person: Person) -> None:
    """Remember a link that the user removes now, so that it can be restored. `person` is the user
    at the removal."""
    account = person.account
    proven = person.email_proven
    RestorableLink.objects.create(
        user_id=link.user_id,
        provider=link.provider,
        subject=link.subject,
        email=link.email,
        at_signup=link.at_signup,
        added_at=link.added_at,
        proven_key=account.proven_email_key if proven else "",
        proven_at=account.email_proven_at if proven else None,
        removed_at=clock.now(),
    )


def count_recovery(person: Person) -> None:
    """Count a recovery that removes links. Call it in each one, and before `restore_owned`."""
    _restorable(person).update(recoveries=F("recoveries") + 1)


def restore_owned(person: Person, since: datetime) -> list[Link]:
    """Restore the owner's links that were removed since `since`; returns them.

    It skips a link if another account has it now, or if this is not the first recovery since the
    removal. An earlier recovery left the account without the link, and the owner went on with that:
    the owner may have removed the link of an intruder and then reset the password.
    """
    restored = []
    valid_since = clock.now() - _RESTORABLE_FOR
    rows = _restorable(person).filter(
        removed_at__gte=since, removed_at__gt=valid_since, recoveries__lte=1
    )
    for row in rows.order_by("removed_at"):
        if not _was_the_owners(row, person, since):
            continue
        link = Link(
            user_id=row.user_id,
            provider=row.provider,
            subject=row.subject,
            email=row.email,
            at_signup=row.at_signup,
            added_at=row.added_at,
        )
        try:
            storage.links().add(link)
        except LinkTaken:
            continue
        restored.append(link)
        # The link exists again: no later notice restores it, and an import may import it.
        _restorable(person).filter(pk=row.pk).delete()
        forget(link)
    return restored


def expired_rows() -> Mapping[str, QuerySet[Any]]:
    """Fills the slot `expired_rows`."""
    expired = RestorableLink.objects.filter(removed_at__lte=clock.now() - _RESTORABLE_FOR)
    return {"restorable links": expired}


def _was_the_owners(row: RestorableLink, person: Person, since: datetime) -> bool:
    """Whether the link was a trusted one before `since`. A link is trusted from when it was added,
    but not before the address was proven, and never if the address was not proven when the link
    was removed. See `core/recovery/takeover.py` for the reason.

    The link must also have been trusted 72 hours before the removal. Otherwise an intruder could
    add a link and remove it at once, and it would count as old when the owner opens the mail three
    days later.
    """
    account = person.account
    if not row.proven_key:
        return False
    trusted_since = max(row.added_at, row.proven_at or row.added_at)
    # If the same address was proven again, what was added before that proof is as old as the proof.
    # A proof of another address says nothing about the link: the intruder may have replaced the
    # address.
    if account.email_proven_at and account.proven_email_key == row.proven_key:
        trusted_since = max(trusted_since, account.email_proven_at)
    return trusted_since < min(since, row.removed_at - recovery_number.WAIT)


def _restorable(person: Person) -> QuerySet[RestorableLink]:
    return RestorableLink.objects.filter(user=person.user.pk)
