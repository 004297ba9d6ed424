"""Removing a second factor without its code: by staff, by recovery, and by the cleanup."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from authservice.core.credentials import passwords
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import databases, events
from authservice.kernel.client import Client
from authservice.twofactor import authenticators, messages
from authservice.twofactor.models import BackupCode, RememberedDevice

DISABLED = "second factor disabled"  # reason why sessions ended
_SET_UPS_KEPT = timedelta(days=1)


def disable(person: Person, *, by: Any = None, client: Client | None = None) -> bool:
    """Remove an enabled second factor and end all sessions of its user; False if there is none.

    `by` is the member of staff, or None for an operator in a shell.
    """
    using = databases.primary()
    with transaction.atomic(using=using):
        passwords.lock_users([person.user.pk])
        found = authenticators.rows().filter(user=person.user.pk).first()
        if found is None or not found.confirmed:
            return False
        found.delete(using=using)
        sessions.end_all(person, DISABLED)
        events.record_by_staff("auth.2fa.disabled", by, person.user, client or Client())
        messages.notify_of_staff(messages.DISABLED, person, client or Client())
    return True


def revoke_unverified(person: Person) -> bool:
    """Fills the slot `revoke_unverified_access`: the factor was set up by someone who had not
    proven that the address is theirs, possibly an attacker (account pre-hijacking)."""
    return _revoke(person, authenticators.rows().filter(user=person.user.pk), "unproven")


def revoke_recent(person: Person, since: datetime) -> bool:
    """Fills the slot `revoke_recent_factors`: a factor that was enabled before `since` stays."""
    rows = authenticators.rows().filter(user=person.user.pk)
    recent = rows.filter(Q(confirmed=False) | Q(enabled_at__gte=since))
    return _revoke(person, recent, "recovery")


def _revoke(person: Person, rows: QuerySet[Any], reason: str) -> bool:
    found = list(rows)
    for row in found:
        row.delete(using=databases.primary())
    if any(row.confirmed for row in found):
        events.record_by_staff("auth.2fa.disabled", None, person.user, Client(), reason=reason)
    return bool(found)


def expired_rows() -> Mapping[str, QuerySet[Any]]:
    """Fills the slot `expired_rows`: set-ups not confirmed within a day, with their codes, and
    expired remembered devices."""
    now = timezone.now()
    stale = {"confirmed": False, "set_up_at__lte": now - _SET_UPS_KEPT}
    set_ups = authenticators.rows().filter(**stale)
    codes = BackupCode.objects
    return {
        "backup codes of abandoned set-ups": codes.filter(
            Exists(set_ups.filter(pk=OuterRef("authenticator_id")))
        ),
        # A code that another transaction has locked keeps its authenticator until the next cleanup.
        "abandoned set-ups": set_ups.exclude(Exists(codes.filter(authenticator_id=OuterRef("pk")))),
        "remembered devices": RememberedDevice.objects.filter(expires_at__lte=now),
    }
