"""What staff change of an account by hand, and what follows from it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from django.db import transaction
from django.utils import timezone

from authservice.core import directory, facts, revocation, sign_ins
from authservice.core.models import Account
from authservice.core.people import Person
from authservice.kernel import events
from authservice.kernel.events import Event


def amend(account: Account, changed: Collection[str], *, by: Any) -> None:
    """Store the changed fields, and only those: the copies of the host's row may be newer.

    Somebody who is deactivated is out at once, and not back in with the old tokens later.
    """
    using = directory.database()
    account.updated_at = timezone.now()
    fields = {*changed, "updated_at"}
    if "phone_number" in changed:
        fields.add("phone_key")
    with transaction.atomic(using=using):
        account.save(using=using, update_fields=fields)
        if "active" in changed and not account.active:
            sign_ins.end_everywhere(Person(account.user, account), revocation.REVOKED)
        for event in _events(account, changed, by):
            facts.tell(event)


def _events(account: Account, changed: Collection[str], by: Any) -> Iterator[Event]:
    who = {"user": by, "target": account.user, "actor_type": "admin"}
    yield Event(action="admin.user.updated", metadata={"fields": sorted(changed)}, **who)
    if "active" in changed:
        flipped = "admin.user.reactivated" if account.active else "admin.user.suspended"
        yield Event(action=flipped, severity=events.WARNING, **who)
