"""Evicting an intruder: what each kind of recovery removes from an account, in one table.

An intruder without access to the mailbox may have left a way back: a phone number that resets the
password, a second factor that locks the owner out, a linked provider. A recovery that removes only
sessions would give the account back to the intruder (account pre-hijacking: Sudhodanan and Paverd,
USENIX Security 2022).

A verification link does not remove what was set up before: usually its reader has signed up and
only opens the mail in another browser. But an attacker may have signed up with the address of the
reader, and planted a phone number, a linked provider or a second factor that no reset of a proven
account removes. So unless the browser or a session of the sign-up proves the address, the number
and the providers count as added at the time of the proof, and the owner of the mailbox gets a link
that removes all of this: see `distrust`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from authservice.core.conf import core
from authservice.core.credentials import lockout, one_time, recovery_number
from authservice.core.messages import kinds, security_notice
from authservice.core.models import Account, PhoneSource
from authservice.core.recovery import phone_numbers
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events
from authservice.kernel.client import Client
from authservice.kernel.interfaces import AccountAccess, SecondFactor
from authservice.kernel.modules import plugs

# Reasons for which sessions end.
UNPROVEN = "unproven"
SECURED_REASON = "account secured"
# The link of the notice about earlier access removes all such access, whenever it was added.
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Eviction:
    """The user, the requesting client, the time since which access is removed, and the reason."""

    person: Person
    client: Client
    reason: str
    since: datetime


Step = Callable[[Eviction], bool]


@databases.inside_transaction
@clock.once
def evict(kind: str, person: Person, client: Client, *, since: datetime | None = None) -> bool:
    """Remove access as `REMOVES` says for this kind of recovery; returns whether more than sessions
    and one-time tokens was removed.

    The caller holds the lock of the user's row. Steps for recent access remove what was added after
    `since`: the time of the change that is undone, by default 72 hours ago.
    """
    access_since = since or clock.now() - recovery_number.WAIT
    reason = {FIRST_PROOF: UNPROVEN, SECURED: SECURED_REASON}.get(kind, sessions.RESET)
    eviction = Eviction(person=person, client=client, reason=reason, since=access_since)
    removed = [step(eviction) for step in REMOVES[kind]]
    return any(removed)


@databases.inside_transaction
def record_recovery(person: Person) -> None:
    """Store that the owner has recovered the account now. Every recovery calls it."""
    now = clock.now()
    Account.objects.filter(pk=person.user.pk).update(recovered_at=now)
    person.account.recovered_at = now


def _open_tokens(eviction: Eviction) -> bool:
    one_time.revoke_all_but_notices(eviction.person)
    return False


def _reset_tokens(eviction: Eviction) -> bool:
    one_time.revoke_all(eviction.person, one_time.RESET)
    return False


def _unproven_access(eviction: Eviction) -> bool:
    # None: all factors, whenever they were set up.
    removed = [factor.revoke(eviction.person, None) for factor in plugs(SecondFactor)]
    removed += [access.first_proof(eviction.person) for access in plugs(AccountAccess)]
    return any(removed)


def _recent_access(eviction: Eviction) -> bool:
    accesses = plugs(AccountAccess)
    removed = [access.recover(eviction.person, eviction.since) for access in accesses]
    return any(removed)


def _recent_factors(eviction: Eviction) -> bool:
    removed = [factor.revoke(eviction.person, eviction.since) for factor in plugs(SecondFactor)]
    return any(removed)


def _number(eviction: Eviction) -> bool:
    person = eviction.person
    number = person.account.phone_number
    if not number:
        return False
    if core.require_phone_verification:
        # Without a verified number the owner could neither log in nor set one. So the number stays.
        # Like a number that staff set, it resets no password until the signed-in owner confirms it.
        Account.objects.filter(pk=person.user.pk).update(phone_set_by=PhoneSource.STAFF)
        person.account.phone_set_by = PhoneSource.STAFF
        return False
    Account.objects.filter(pk=person.user.pk).update(**phone_numbers.NO_NUMBER)
    for name, value in phone_numbers.NO_NUMBER.items():
        setattr(person.account, name, value)
    change = {"before": number, "after": ""}
    events.record("user.phone.changed", person, eviction.client, phone_number=change)
    return True


def _recent_number(eviction: Eviction) -> bool:
    return recovery_number.added_recently(eviction.person) and _number(eviction)


def _sessions(eviction: Eviction) -> bool:
    sessions.end_all(eviction.person, eviction.reason)
    return False


def _devices(eviction: Eviction) -> bool:
    lockout.revoke_devices(eviction.person)
    return False


FIRST_PROOF = "first proof of the address"
RESET_BY_LINK = "reset by a mailed link"
RESET_BY_CODE = "reset by a texted code"
SECURED = "secured by the link of a security notice"
# The address is not proven yet, and nothing is wiped: the user is logged in, the account was never
# used, or `CORE.WIPE_UNPROVEN` is off.
RESET_UNPROVEN = "reset by a mailed link that wipes nothing"

# What each kind of recovery removes, in this order: one-time tokens before the account, as the lock
# order requires. A reset replaces the password itself, and revokes all device tokens but gives a
# known device a new one.
REMOVES: Mapping[str, tuple[Step, ...]] = {
    FIRST_PROOF: (_open_tokens, _unproven_access, _number, _sessions, _devices),
    # A confirmed second factor of a proven account stays: a mailbox is one factor.
    RESET_BY_LINK: (_reset_tokens, _recent_access, _recent_number, _sessions),
    RESET_BY_CODE: (_reset_tokens, _sessions),
    # The number and the address are restored, see `secure_account`.
    SECURED: (_open_tokens, _recent_access, _recent_factors, _sessions, _devices),
    RESET_UNPROVEN: (_reset_tokens, _sessions),
}


@databases.inside_transaction
def distrust(person: Person, client: Client) -> None:
    """Treat the number and the providers of the sign-up as added now, and notify the owner of the
    mailbox if there are any of these or a second factor.

    Call it after the proof was stored and the user's row locked, and after the notice to a former
    address: the link of an earlier notice ends those of later ones, not the other way round.
    """
    account = person.account
    now = clock.now()
    # A number that staff set resets no password anyway, until a user with the password confirms it.
    has_number = bool(account.phone_number) and account.phone_set_by != PhoneSource.STAFF
    if has_number:  # it now counts as added in a session, without the password
        fields: dict[str, Any] = {
            "phone_set_by": PhoneSource.SESSION,
            "phone_added_at": now,
            "phone_verified_at": now if person.phone_number_verified else None,
        }
        Account.objects.filter(pk=person.user.pk).update(**fields)
        for name, value in fields.items():
            setattr(account, name, value)
    linked = [access.distrust(person) for access in plugs(AccountAccess)]
    factor = any(factor.is_enabled(person) for factor in plugs(SecondFactor))
    if has_number or any(linked) or factor:
        # The link of the notice restores this state: an account without a number.
        before = {**security_notice.state_of(person, since=_LONG_AGO), **phone_numbers.NO_NUMBER}
        security_notice.notify(kinds.EMAIL_CONFIRMED, person, client, before)
