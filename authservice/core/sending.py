"""Asking for a mail or SMS: the same work for known and unknown targets, within limits.

Limits on what is sent to a target count in the database, since messages cost money and patience;
past them the answer stays the same and nothing is sent. A device that is known to the target's own
account has a share of its own, so that strangers cannot use it up.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from authservice.core import attempts, devices, directory, identity
from authservice.core.attempts import Budget
from authservice.core.people import Person
from authservice.kernel import errors, flood, messages
from authservice.kernel.client import Client

_DAY = timedelta(days=1)
_SOON = Budget.fixed(limit=3, window=timedelta(minutes=15))
_DAILY = Budget.fixed(limit=10, window=_DAY)
_STRANGERS = Budget.fixed(limit=30, window=_DAY)


def to_email(
    kind: str, email: str, client: Client, *, details: Mapping[str, Any] | None = None
) -> None:
    """Enqueue the job for an address, unless it had its share."""
    person = directory.find_by_email(email) if client.device_token else None
    if _within(kind, identity.email_key(email), person, client):
        messages.send(kind, email, client, using=directory.database(), details=details)


def to_phone(kind: str, phone: str, client: Client) -> None:
    """The same for a number. Raises `SmsNotConfigured`."""
    if not messages.can_sms():
        raise errors.SmsNotConfigured
    person = directory.find_by_phone(phone) if client.device_token else None
    if _within(kind, phone, person, client):
        messages.send(kind, phone, client, using=directory.database())


def _within(kind: str, subject: str, person: Person | None, client: Client) -> bool:
    if not flood.conf.enabled:
        return True
    device = devices.known(client.device_token, person)
    sender = device.hex if device else client.network
    budgets = [(f"{kind}:soon", _SOON), (f"{kind}:daily", _DAILY)]
    shares = [(attempts.key(scope, f"{subject}|{sender}"), budget) for scope, budget in budgets]
    if device is None:
        shares.append((attempts.key(f"{kind}:strangers", subject), _STRANGERS))
    # In this order and no further than the first refusal: what is not sent uses up nothing.
    return all(attempts.counted(key, budget) for key, budget in shares)
