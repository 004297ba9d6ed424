"""Requesting a mail or SMS, and counting each message against the limits.

A request does the same work for known and unknown recipients. Beyond a limit the response is the
same and nothing is sent. A known device of the recipient's account has a separate limit, which
other clients cannot use up.

Mails and texts cost money and disturb their recipients, so they are counted in the database,
exactly, also under parallel requests. A requested message is counted when it is requested, for
known and unknown recipients alike. All others are counted by the worker that sends them, so the
request has no extra statements.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto
from math import ceil
from typing import Any, NamedTuple

from authservice.core.credentials import attempt_counter, lockout
from authservice.core.errors import SmsNotConfigured
from authservice.core.messages import limits
from authservice.core.messages.limits import Limit
from authservice.core.users import identifiers, lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, errors, message_queue, throttling
from authservice.kernel.client import Client

logger = logging.getLogger("authservice.messages")

# Keys of the details of a job.
LAST = "last"  # set for the one mail a day that is sent beyond the limit: its link is valid longer
ACCOUNT = "account"  # the id of the account that requested a code

_SERVICE = "service"
_NEW = timedelta(days=1)  # the age below which an account is that of a new sender
_ALARM = Limit(
    "alarm", "log lines about a used-up limit of the service", "service", 1, timedelta(hours=1)
)


_COUNTRY_ALARM = Limit(
    "country", "log lines about a country that gets no texts", "country", 1, timedelta(days=1)
)


@dataclass(frozen=True)
class TextPolicy:
    """The text messages that the host project allows per hour, and the ISO codes of the countries
    that get them (empty: all)."""

    per_hour: int = limits.SERVICE_TEXTS.amount
    countries: tuple[str, ...] = ()


class Verdict(Enum):
    """Whether a requested mail is sent. `LAST` is the one mail sent beyond the limit."""

    SEND = auto()
    LAST = auto()
    REFUSE = auto()


class Sender(NamedTuple):
    """Who requests a message: a known device of the recipient's account, or a client network.

    `account` is the recipient's account if the device is known, else None.
    """

    id: str
    network: str
    account: Person | None

    @classmethod
    def of(cls, client: Client, recipient: Person | None) -> Sender:
        device = lockout.find_device(client.device, recipient)
        if device is None:
            return cls(client.network, client.network, None)
        return cls(device.hex, client.network, recipient)


@clock.once
def to_email(
    kind: str, email: str, client: Client, *, details: Mapping[str, Any] | None = None
) -> bool:
    """Enqueue the job for an address; False beyond a limit, and then nothing is sent.

    The client must not learn the result: other clients may have used the limit up.
    """
    recipient = lookup.find_by_email(email) if client.device else None
    verdict = request_mail(kind, identifiers.email_key(email), Sender.of(client, recipient))
    if verdict is Verdict.REFUSE:
        return False
    if verdict is Verdict.LAST:
        details = {**(details or {}), LAST: True}
    using = databases.primary()
    message_queue.send(kind, email, client, using=using, details=details, requested=True)
    return True


@clock.once
def to_phone(
    kind: str,
    phone: str,
    client: Client,
    *,
    details: Mapping[str, Any] | None = None,
    account: Person | None = None,
) -> None:
    """Enqueue the job for a phone number; beyond a limit nothing is sent.

    `account` is the account that the message is for, by default the result of
    `lookup.find_by_phone`. Only the known devices of this account have a separate limit, not those
    of another account that has verified the number. Raises `SmsNotConfigured`.
    """
    if not message_queue.can_sms():
        raise SmsNotConfigured
    recipient = account
    if account is None and client.device:
        recipient = lookup.find_by_phone(phone)
    if request_text(kind, identifiers.phone_key(phone), Sender.of(client, recipient)):
        using = databases.primary()
        message_queue.send(kind, phone, client, using=using, details=details, requested=True)


def request_mail(kind: str, recipient: str, sender: Sender) -> Verdict:
    """Count a requested mail; `recipient` is the key of the address."""
    if not throttling.conf.enabled:
        return Verdict.SEND
    subject = f"{kind}|{recipient}"
    if not _take_all(_of_sender(subject, sender)):
        return Verdict.REFUSE
    if _take_all([_of_everybody(subject, sender)]):
        return Verdict.SEND
    if sender.account is None and _take(limits.LAST_MAIL, subject):
        return Verdict.LAST
    return Verdict.REFUSE


def request_text(kind: str, recipient: str, sender: Sender) -> bool:
    """Count a requested text message; False if it must not be sent. `recipient` is the key of the
    number."""
    if not throttling.conf.enabled:
        return True
    subject = f"{kind}|{recipient}"
    account = sender.account
    counted = [*_of_sender(subject, sender), (limits.SENDER_TEXTS, sender.id)]
    if account is not None:
        # Neither many devices of one account nor many accounts of one client get around these
        # limits.
        counted.append((limits.ACCOUNT_TEXTS, account.id))
        if not account.phone_number_verified:
            counted.append((limits.NETWORK_TEXTS, sender.network))
    return _take_all([*counted, _of_everybody(subject, sender)])


def _of_sender(subject: str, sender: Sender) -> list[tuple[Limit, str]]:
    return [(limit, f"{subject}|{sender.id}") for limit in (limits.SENDER_SOON, limits.SENDER_DAY)]


def _of_everybody(subject: str, sender: Sender) -> tuple[Limit, str]:
    return (limits.UNKNOWN_SENDERS if sender.account is None else limits.KNOWN_DEVICES), subject


def _take_all(counted: Iterable[tuple[Limit, str]]) -> bool:
    # The limits of the sender come first, and `all` stops at the first refusal: a sender beyond
    # their own limit must not use up the limit that all senders share.
    return all(_take(limit, subject) for limit, subject in counted)


class Refused(Exception):
    """The message is not sent, because of a limit or the country of its recipient."""


class CountryRefused(Refused):
    """The service sends no text messages to the `country` of the recipient, an ISO code; "" if it
    is unknown."""

    def __init__(self, country: str) -> None:
        super().__init__(country)
        self.country = country


class ServiceLimitReached(Refused):
    """A limit of the whole service on text messages is used up; `limit` names it."""

    def __init__(self, limit: Limit) -> None:
        super().__init__(limit.name)
        self.limit = limit


def count_invitation(person: Person) -> None:
    """Count an invitation that the user sends. Raises `TooManyRequests`."""
    if throttling.conf.enabled:
        _take_or_refuse(limits.INVITATIONS, person.id)


def count_invitation_mail(sender: Person, recipient: str) -> bool:
    """Count the mail of an invitation; `recipient` is the key of the address. False if other
    senders have used up the mails to this recipient, and then nothing is counted.

    Raises `TooManyRequests` for a second mail of this sender to this recipient within a day, so
    that inviting and cancelling in turns does not fill a mailbox.
    """
    if not throttling.conf.enabled:
        return True
    counted_keys = [_take_or_refuse(limits.INVITATION_MAIL, f"{sender.id}|{recipient}")]
    shared_limits = [limits.INVITATION_MAILS]
    if not sender.email_proven or sender.account.created_at > clock.now() - _NEW:
        # Many new accounts of one attacker must leave room for other senders.
        shared_limits.insert(0, limits.NEW_SENDERS)
    for limit in shared_limits:
        key = _take(limit, recipient)
        if not key:
            refund(counted_keys)
            return False
        counted_keys.append(key)
    return True


def _take_or_refuse(limit: Limit, subject: str) -> str:
    if key := _take(limit, subject):
        return key
    now = clock.now()
    ends_at = attempt_counter.ends_at(_key(limit, subject)) or now
    wait = max(1, ceil((ends_at - now).total_seconds()))
    raise errors.TooManyRequests(headers={"Retry-After": str(wait)})


def count_unrequested(kind: str, target: str) -> tuple[str, ...]:
    """Count a message that no client requested. Returns the keys to give back if sending fails.

    Raises `Refused`.
    """
    if not throttling.conf.enabled:
        return ()
    by_mail = "@" in target
    subject = (
        f"{kind}|{identifiers.email_key(target) if by_mail else identifiers.phone_key(target)}"
    )
    key = _take(limits.UNREQUESTED, subject)
    if not key:
        raise Refused
    return (key,)


def count_new_device(person: Person) -> tuple[str, ...] | None:
    """Count a notice to be sent at once; None if one was already sent to the account in this hour.

    Returns the keys to give back if sending fails.
    """
    if not throttling.conf.enabled:
        return ()
    key = _take(limits.NEW_DEVICE, person.id)
    return (key,) if key else None


def count_new_devices(person: Person) -> datetime | None:
    """When to send the list of further new devices, or None if it is already scheduled."""
    ends_at = attempt_counter.ends_at(_key(limits.NEW_DEVICE, person.id))
    if ends_at is None or not _take(limits.NEW_DEVICES, f"{person.id}|{ends_at.isoformat()}"):
        return None
    return ends_at


def count_text(number: str, recipient: Person, policy: TextPolicy) -> None:
    """Count a text message against the limits of the whole service. Raises `Refused`.

    The count is not given back if sending fails: a provider that reports a failure may have sent
    the message and charged for it.
    """
    if policy.countries:
        country = identifiers.country_of(number)
        if country not in policy.countries:
            raise CountryRefused(country)
    if not throttling.conf.enabled:
        return
    verified = recipient.phone_number_verified and recipient.account.phone_number == number
    if not verified:
        _take_of_service(limits.UNVERIFIED_TEXTS, policy.per_hour * 4 // 5)
    _take_of_service(limits.SERVICE_TEXTS, policy.per_hour)


@databases.outside_transactions
def report(refused: Refused) -> None:
    """Log that a limit of the service is used up, once an hour, and that a country gets no text
    messages, once a day."""
    # Once for each country, not for each number: clients choose the numbers and could fill the log.
    if isinstance(refused, CountryRefused) and _take(_COUNTRY_ALARM, refused.country):
        logger.warning(
            "A text message was not sent: NOTIFICATION.SMS_COUNTRIES does not list the country of "
            "the number (%s). Users with such numbers cannot verify them.",
            refused.country or "unknown",
        )
    if isinstance(refused, ServiceLimitReached) and _take(_ALARM, refused.limit.name):
        logger.error(
            "The limit %s is used up: no more such text messages are sent within this hour. "
            "Look for abuse, or raise NOTIFICATION.SMS_PER_HOUR.",
            refused.limit.name,
        )


def refund(keys: Iterable[str]) -> None:
    """Give back the counts of a message that could not be sent."""
    for key in keys:
        attempt_counter.refund(key)


def _take_of_service(limit: Limit, amount: int) -> None:
    if not _take(replace(limit, amount=amount), _SERVICE):
        raise ServiceLimitReached(limit)


def _take(limit: Limit, subject: str) -> str:
    """Count one more for the subject. Returns the key of the counter, to give the count back; "" if
    none is left, and then nothing is counted."""
    key = _key(limit, subject)
    return key if attempt_counter.try_consume(key, limit.budget) else ""


def _key(limit: Limit, subject: str) -> str:
    return attempt_counter.key(f"send:{limit.name}", subject)
