"""Why a user cannot log in, in words: for the support page in Django admin. Staff remove what can
be removed: the locks of attempts.

Only core's part. Modules add theirs by the slot `support`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.utils import formats, timezone

from authservice.core.conf import core
from authservice.core.credentials import attempt_counter, lockout
from authservice.core.credentials.attempt_counter import Counter, Lock
from authservice.core.users.person import Person
from authservice.kernel import clock, events
from authservice.kernel.client import Client
from authservice.kernel.modules import plugs
from authservice.kernel.phrases import admin_text as _
from authservice.kernel.support_parts import Obstacle, Support

_NAMED = 3  # addresses in a sentence


def counters(person: Person) -> list[Counter]:
    """Every counter of attempts at the account."""
    found = list(lockout.counters(person))
    for part in plugs(Support):
        found += part.counters(person)
    return found


def unlock(people: Sequence[Person], *, by: Any, client: Client) -> int:
    """Reset the attempts of these users; returns how many of them were locked.

    `by` is the member of staff. Recorded for each user, locked or not: further attempts are
    possible in both cases.
    """
    found = {person: counters(person) for person in people}
    locks = attempt_counter.locks([one for several in found.values() for one in several])
    locked = {lock.counter.key for lock in locks}
    attempt_counter.reset([one.key for several in found.values() for one in several])
    number = {person: sum(one.key in locked for one in found[person]) for person in people}
    for person in people:
        events.record_by_staff(
            "admin.user.unlocked", by, person.user, client, locked=number[person]
        )
    return sum(map(bool, number.values()))


def obstacles(person: Person) -> Iterator[Obstacle]:
    """What core knows without a further query; locks are in `locks`."""
    if not person.active:
        yield Obstacle(_("Suspended: the user is not active."))
    yield from _unverified(person)
    yield from _unfindable(person)
    if not person.user.has_usable_password():
        yield Obstacle(
            _("There is no password. A password reset by e-mail sets one."), blocks=False
        )
    account = person.account
    if account.mail_failed_at:
        text = _("The newest message could not be sent, at %(time)s (%(reason)s).")
        values = {"time": shown_time(account.mail_failed_at), "reason": account.mail_failure}
        yield Obstacle(text % values, blocks=False)


def _unverified(person: Person) -> Iterator[Obstacle]:
    if not person.email_verified:
        if core.require_email_verification:
            yield Obstacle(_("The e-mail address is not verified, and a login requires it."))
        elif person.email:
            yield Obstacle(_("The e-mail address is not verified."), blocks=False)
    if core.require_phone_verification and not person.phone_number_verified:
        yield Obstacle(_("The phone number is not verified, and a login requires it."))


def _unfindable(person: Person) -> Iterator[Obstacle]:
    """If two users have the same address or name, a login finds at most one of them."""
    account = person.account
    if account.email_claim and not account.email_key:
        text = _("Another user has the same e-mail address: no login finds this user by it.")
        yield Obstacle(text, blocks=not account.username_key)
    if account.username_claim and not account.username_key:
        text = _("Another user has the same username: no login finds this user by it.")
        yield Obstacle(text, blocks=not account.email_key)
    if not person.email:
        yield Obstacle(_("There is no e-mail address: nothing can be mailed."), blocks=False)


def locks(person: Person) -> list[Lock]:
    """The counters that allow no attempt now: those of core, and those of the modules."""
    return attempt_counter.locks(counters(person))


def described(lock: Lock, person: Person, parts: Sequence[Support]) -> Obstacle:
    """The sentence about a lock, with the addresses that the audit log has."""
    counter = lock.counter
    values = {
        "until": shown_time(lock.until),
        "number": lock.number,
        "attempts": counter.attempts,
        "addresses": _listed(_addresses(lock, person, parts)),
    }
    if values["addresses"]:
        text = _("Locked until %(until)s after %(number)d %(attempts)s from %(addresses)s.")
    else:
        text = _("Locked until %(until)s after %(number)d %(attempts)s.")
    return Obstacle(text % values, blocks=counter.blocks)


def _addresses(lock: Lock, person: Person, parts: Sequence[Support]) -> list[str]:
    action = lock.counter.action
    if not action:
        return []
    found = (part.addresses(person, action, lock.number) for part in parts)
    return list(dict.fromkeys(address for among in found for address in among))


def _listed(addresses: list[str]) -> str:
    named = ", ".join(addresses[:_NAMED])
    more = len(addresses) - _NAMED
    if more <= 0:
        return named
    return _("%(addresses)s and %(more)d more") % {"addresses": named, "more": more}


def shown_time(moment: datetime) -> str:
    """A time of today as "12:32", another one with its date; in the current time zone."""
    local, today = (
        timezone.localtime(one) if timezone.is_aware(one) else one for one in (moment, clock.now())
    )
    same = local.date() == today.date()
    return str(formats.date_format(local, "H:i" if same else "Y-m-d H:i"))
