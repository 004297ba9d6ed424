"""Limits on sending mails and text messages.

This is the only table of such limits. Every message is checked against it (`sending`), and
`docs/reference/limits.rst` is generated from it. `THROTTLE.ENABLED = False` turns all limits
off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from django.utils.functional import cached_property

from authservice.core.credentials.attempt_counter import Budget

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True)
class Limit:
    """At most `amount` in each `window`. `messages` and `counted_for` are texts for the docs."""

    name: str
    messages: str
    counted_for: str
    amount: int
    window: timedelta

    @cached_property
    def budget(self) -> Budget:
        return Budget.fixed(limit=self.amount, window=self.window)


SENDER_SOON = Limit(
    "sender-soon",
    "requested mails and texts",
    "kind, recipient and sender",
    3,
    timedelta(minutes=15),
)
SENDER_DAY = replace(SENDER_SOON, name="sender-day", amount=10, window=_DAY)
UNKNOWN_SENDERS = Limit(
    "unknown-senders",
    "requested mails and texts",
    "kind and recipient, all senders without a known device together",
    30,
    _DAY,
)
LAST_MAIL = Limit(
    "last-mail",
    "one more requested mail beyond ``unknown-senders``, whose links work for 24 hours",
    "kind and recipient",
    1,
    _DAY,
)
KNOWN_DEVICES = Limit(
    "known-devices",
    "requested mails and texts",
    "kind and recipient, all known devices of its accounts together",
    30,
    _DAY,
)
SENDER_TEXTS = Limit(
    "sender-texts", "requested texts", "sender, all recipients together", 10, _HOUR
)
ACCOUNT_TEXTS = Limit(
    "account-texts", "requested texts from known devices", "account, all numbers together", 30, _DAY
)
NETWORK_TEXTS = Limit(
    "network-texts",
    "requested texts from known devices to unverified numbers",
    "client network",
    30,
    _HOUR,
)
SERVICE_TEXTS = Limit(
    "service-texts",
    # The amount is the default of the setting.
    "all texts (``NOTIFICATION.SMS_PER_HOUR``)",
    "service",
    1000,
    _HOUR,
)
UNVERIFIED_TEXTS = Limit(
    "unverified-texts",
    # For the documentation: `sending` takes four fifths of the setting.
    "texts to unverified numbers (four fifths of ``NOTIFICATION.SMS_PER_HOUR``)",
    "service",
    800,
    _HOUR,
)
NEW_DEVICE = Limit("new-device", "notices of a new device, sent at once", "account", 1, _HOUR)
NEW_DEVICES = Limit(
    "new-devices", "lists of further new devices, sent at the end of the hour", "account", 1, _HOUR
)
UNREQUESTED = Limit(
    "unrequested", "any other mail or text that nobody requested", "kind and recipient", 10, _DAY
)
INVITATIONS = Limit(
    "invitations",
    "invitations to the service and to organizations",
    "account of the sender",
    50,
    _DAY,
)

INVITATION_MAIL = Limit(
    "invitation-mail",
    "invitations to the service and to organizations, cancelled or not",
    "account of the sender, and recipient",
    1,
    _DAY,
)
INVITATION_MAILS = Limit(
    "invitation-mails",
    "invitations to the service and to organizations",
    "recipient, all senders together",
    30,
    _DAY,
)
NEW_SENDERS = Limit(
    "new-senders",
    "invitations of senders who have not proven their own address, or whose account is younger"
    " than a day",
    "recipient, all such senders together",
    15,
    _DAY,
)

LIMITS = (
    SENDER_SOON,
    SENDER_DAY,
    UNKNOWN_SENDERS,
    LAST_MAIL,
    KNOWN_DEVICES,
    SENDER_TEXTS,
    ACCOUNT_TEXTS,
    NETWORK_TEXTS,
    SERVICE_TEXTS,
    UNVERIFIED_TEXTS,
    NEW_DEVICE,
    NEW_DEVICES,
    UNREQUESTED,
    INVITATIONS,
    INVITATION_MAIL,
    INVITATION_MAILS,
    NEW_SENDERS,
)
