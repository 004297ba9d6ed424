"""The removal of links, and which removed ones "this was not me" restores.

Every removal leaves a record of the account, the provider and a keyed digest of the subject, and
this user of the provider is never linked to the account by its address again. Otherwise the next
login of a removed intruder would find the account by the address and link it again. The sessions
that began with the provider end too.

An intruder with a stolen session can remove links too: those of the owner, but also one that the
intruder added shortly before. Restoring that one would let the intruder in again. So a link comes
back only if it was the owner's when it was removed: the address was proven, and the link had
existed for 72 hours, in which the owner could notice it.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q, QuerySet

from authservice.core.credentials import one_time, recovery_number
from authservice.core.models import OneTimeToken, Session
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import clock, crypto, transactions
from authservice.oauth import storage
from authservice.oauth.models import RemovedLink
from authservice.oauth.provider import login_method
from authservice.oauth.storage import Link, LinkTaken

# Purpose of the rows. `attempts` of such a row counts the recoveries since the removal.
UNLINKED = "oauth-unlinked"
# As long as the link of a security notice, which restores them.
_REMEMBERED = timedelta(hours=72)
_SUBJECT = "oauth-removed"
# Reason for which sessions end.
_REASON = "provider unlinked"


@transactions.inside
def remove(link: Link, *, kept: Session | None = None) -> bool:
    """Remove a link and leave a record; False if it is gone already. Every removal calls this.

    The sessions that began with the provider end, except `kept`, and so do logins with it that wait
    for a second factor. The caller holds the lock of the user's row: a concurrent login with the
    link then either finds it removed, or its session ends here.
    """
    method = login_method(link.provider)
    one_time.revoke_logins(link.user_id, method)
    sessions.end_begun_with(link.user_id, method, kept, _REASON)
    removed = storage.links().remove(link)
    if removed:
        record = RemovedLink(
            user_id=link.user_id,
            provider=link.provider,
            subject_digest=crypto.digest(_SUBJECT, link.subject),
            key_id=crypto.key_ids(_SUBJECT)[0],
            removed_at=clock.now(),
        )
        RemovedLink.objects.bulk_create([record], ignore_conflicts=True)
    return removed


def forget(link: Link) -> None:
    """Delete the record of a link that exists again."""
    digests = crypto.digests(_SUBJECT, link.subject)
    rows = RemovedLink.objects.filter(user=link.user_id, provider=link.provider)
    rows.filter(subject_digest__in=digests).delete()


def was_removed(user_id: Any, provider: str, subject: str) -> bool:
    """Whether this user of the provider was linked to the account and then removed.

    A record whose key was withdrawn since matches every user of the provider: no digest can be
    compared with it any more. The owner can still link while signed in.
    """
    same = Q(subject_digest__in=crypto.digests(_SUBJECT, subject))
    unreadable = ~Q(key_id__in=crypto.key_ids(_SUBJECT))
    rows = RemovedLink.objects.filter(same | unreadable, user=user_id, provider=provider)
    return rows.exists()


def records_of(users: Collection[Any]) -> set[tuple[Any, str, str]]:
    """The user, provider and digest of every record of these users; the digest is "" if its key
    was withdrawn."""
    rows = RemovedLink.objects.filter(user__in=users)
    known = crypto.key_ids(_SUBJECT)
    return {
        (user, provider, digest if key_id in known else "")
        for user, provider, digest, key_id in rows.values_list(
            "user_id", "provider", "subject_digest", "key_id"
        )
    }


def is_among(link: Link, records: set[tuple[Any, str, str]]) -> bool:
    """Whether one of the records of `records_of` is that of this link, see `was_removed`."""
    digests = ("", *crypto.digests(_SUBJECT, link.subject))
    return any((link.user_id, link.provider, digest) in records for digest in digests)


def remember(link: Link, person: Person) -> None:
    """Remember a link that the user removes now. `person` is the user at the removal."""
    now = clock.now()
    OneTimeToken.objects.create(
        purpose=UNLINKED,
        user_id=link.user_id,
        payload=_remembered(link, person),
        created_at=now,
        expires_at=now + _REMEMBERED,
    )


def count_recovery(person: Person) -> None:
    """Count a recovery that removes links. Call it in each one, and before `restore`."""
    _rows(person).update(attempts=F("attempts") + 1)


def restore(person: Person, since: datetime) -> list[Link]:
    """Restore the owner's links that were removed since `since`; returns them.

    It skips a link if another account has it now, or if this is not the first recovery since the
    removal. An earlier recovery left the account without the link, and the owner went on with that:
    the owner may have removed the link of an intruder and then reset the password.
    """
    restored = []
    rows = _rows(person).filter(created_at__gte=since, expires_at__gt=clock.now(), attempts__lte=1)
    for row in rows.order_by("created_at"):
        if not _was_the_owners(row, person, since):
            continue
        link = _link(row)
        try:
            storage.links().add(link)
        except LinkTaken:
            continue
        restored.append(link)
        # It is not removed any more, and an import may have it.
        _rows(person).filter(pk=row.pk).delete()
        forget(link)
    return restored


def _was_the_owners(row: OneTimeToken, person: Person, since: datetime) -> bool:
    """Whether the link existed before the eviction window, as a trusted one.

    The window also ends 72 hours before the removal. Otherwise an intruder could add a link and
    remove it at once, and it would count as old when the owner opens the mail three days later.
    """
    trusted_since = _trusted_since(row, person)
    if trusted_since is None:
        return False
    return trusted_since < min(since, row.created_at - recovery_number.WAIT)


def _trusted_since(row: OneTimeToken, person: Person) -> datetime | None:
    """When the link was added, but not before the address was proven; None if it was not proven
    when the link was removed. See `takeover` for the reason."""
    kept = row.payload
    if not kept.get("proven_key"):
        return None
    moments = [datetime.fromisoformat(kept["added_at"])]
    if kept["proven_at"]:
        moments.append(datetime.fromisoformat(kept["proven_at"]))
    account = person.account
    # The same address may have been proven again. A proof of another address says nothing about the
    # link: the intruder may have replaced the address.
    if account.email_proven_at and account.proven_email_key == kept["proven_key"]:
        moments.append(account.email_proven_at)
    return max(moments)


def _remembered(link: Link, person: Person) -> dict[str, Any]:
    account, proven = person.account, person.email_proven
    proven_at = account.email_proven_at if proven else None
    return {
        "provider": link.provider,
        "subject": link.subject,
        "email": link.email,
        "at_signup": link.at_signup,
        "added_at": link.added_at.isoformat(),
        "proven_key": account.proven_email_key if proven else "",
        "proven_at": proven_at.isoformat() if proven_at else None,
    }


def _link(row: OneTimeToken) -> Link:
    kept = row.payload
    return Link(
        user_id=row.user_id,
        provider=kept["provider"],
        subject=kept["subject"],
        email=kept["email"],
        at_signup=kept["at_signup"],
        added_at=datetime.fromisoformat(kept["added_at"]),
    )


def _rows(person: Person) -> QuerySet[OneTimeToken]:
    return OneTimeToken.objects.filter(user=person.user.pk, purpose=UNLINKED)
