"""What people may change of themselves: name, phone number, avatar."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from authservice.core import directory, facts, identity
from authservice.core.models import Account
from authservice.core.people import Person
from authservice.kernel import errors
from authservice.kernel.client import Client
from authservice.kernel.events import Event

_EVENTS = {"phone_number": "user.phone.changed", "avatar": "user.avatar.updated"}


def update(person: Person, changes: dict[str, str], client: Client) -> None:
    """Store what differs of `name`, `phone_number` and `avatar`; "" clears.

    Raises `PhoneAlreadyInUse`, and `InvalidToken` for somebody deleted meanwhile. A changed number
    is unverified by itself.
    """
    account = person.account
    before = {name: getattr(account, name) for name in changes}
    changed = {name: value for name, value in changes.items() if value != before[name]}
    if not changed:
        return
    for name, value in changed.items():
        setattr(account, name, value)
    fields = [*changed, "updated_at"]
    account.updated_at = timezone.now()
    if "phone_number" in changed:
        phone = changed["phone_number"]
        account.phone_key = identity.phone_key(phone) if phone else None
        account.verified_phone_key = ""
        fields += ["phone_key", "verified_phone_key"]
    with transaction.atomic(using=directory.database()):
        rows = Account.objects.using(directory.database()).filter(pk=account.pk)
        try:
            stored = rows.update(**{name: getattr(account, name) for name in fields})
        except IntegrityError as wrong:
            raise errors.PhoneAlreadyInUse from wrong
        if not stored:
            raise errors.InvalidToken
        _tell(person, changed, before, client)


def _tell(person: Person, changed: dict[str, str], before: dict[str, Any], client: Client) -> None:
    actions = ["user.profile.updated", *(_EVENTS[name] for name in changed if name in _EVENTS)]
    metadata = {name: {"before": before[name], "after": value} for name, value in changed.items()}
    for action in actions:
        event = Event(action=action, user=person.user, client=client, metadata=metadata)
        facts.tell(event)
