"""Links that users have removed, and which of them "this was not me" restores.

An intruder with a stolen session can remove links too: those of the owner, but also one that the
intruder added shortly before. Restoring that one would let the intruder in again. So a link comes
back only if it was the owner's when it was removed: the address was proven, and the link had
existed for 72 hours, in which the owner could notice it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone

from authservice.core.credentials import recovery_number
from authservice.core.models import OneTimeToken
from authservice.core.users.person import Person
from authservice.oauth import storage
from authservice.oauth.storage import Link, LinkTaken

# Purpose of the rows. `attempts` of such a row counts the recoveries since the removal.
UNLINKED = "oauth-unlinked"
# As long as the link of a security notice, which restores them.
_REMEMBERED = timedelta(hours=72)


def remember(link: Link, person: Person) -> None:
    """Remember a link that the user removes now. `person` is the user at the removal."""
    now = timezone.now()
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
    rows = _rows(person).filter(
        created_at__gte=since, expires_at__gt=timezone.now(), attempts__lte=1
    )
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
