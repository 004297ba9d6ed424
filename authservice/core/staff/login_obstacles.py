"""Why a user cannot log in, in words: for the support page in Django admin. Staff remove what can
be removed: the locks of attempts.

This file has only core's obstacles. Modules add theirs by the slot `support`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.utils import formats, timezone

from authservice.core.conf import core
from authservice.core.credentials import attempt_counter, lockout
from authservice.core.credentials.attempt_counter import Counter, Lock
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, events
from authservice.kernel.client import Client
from authservice.kernel.languages import admin_text as _
from authservice.kernel.modules import plugs
from authservice.kernel.support_parts import Obstacle, Support

_NAMED = 3  # addresses in a sentence


def counters(person: Person) -> list[Counter]:
    """Every counter of attempts at the account."""
    all_counters = list(lockout.counters(person))
    for part in plugs(Support):
        all_counters += part.counters(person)
    return all_counters


def unlock(people: Sequence[Person], *, by: Any, client: Client) -> int:
    """Reset the attempts of these users; returns how many of them were locked.

    `by` is the member of staff. The audit log gets an entry for each user, locked or not: in both
    cases further attempts are possible.
    """
    counters_of = {person: counters(person) for person in people}
    every = [
        counter for counters_of_person in counters_of.values() for counter in counters_of_person
    ]
    locked = {lock.counter.key for lock in attempt_counter.locks(every)}
    attempt_counter.reset([counter.key for counter in every])
    number_locked = {
        person: sum(counter.key in locked for counter in counters_of_person)
        for person, counters_of_person in counters_of.items()
    }
    for person in people:
        events.record_by_staff(
            "admin.user.unlocked", by, person.user, client, locked=number_locked[person]
        )
    return sum(map(bool, number_locked.values()))


def obstacles(person: Person) -> Iterator[Obstacle]:
    """What core knows of the account; only for an identifier that another user has too it looks
    users up. Locks are in `locks`."""
    if not person.active:
        yield Obstacle(_("Suspended: the user is not active."))
    if not person.email_verified:
        if core.require_email_verification:
            yield Obstacle(_("The e-mail address is not verified, and a login requires it."))
        elif person.email:
            yield Obstacle(_("The e-mail address is not verified."), blocks=False)
    if core.require_phone_verification and not person.phone_number_verified:
        yield Obstacle(_("The phone number is not verified, and a login requires it."))
    yield from _shared_identifiers(person)
    account = person.account
    if not person.email:
        yield Obstacle(_("There is no e-mail address: nothing can be mailed."), blocks=False)
    if not person.user.has_usable_password():
        text = _("There is no password.")
        if person.email:
            text = _("There is no password. A password reset by e-mail sets one.")
        yield Obstacle(text, blocks=False)
    if account.mail_failed_at:
        text = _("The newest message could not be sent, at %(time)s (%(reason)s).")
        values = {"time": shown_time(account.mail_failed_at), "reason": account.mail_failure}
        yield Obstacle(text % values, blocks=False)


def _shared_identifiers(person: Person) -> Iterator[Obstacle]:
    """Whether an address or username that another user has too still finds this one. The key of
    such an identifier finds at most one of them, and the other one has a claim without a key. The
    exact spelling may still find that user, so a login's own look-up decides; it is only made for
    such a user."""
    account = person.account
    shares_email = account.email_claim and not account.email_key
    shares_username = account.username_claim and not account.username_key
    if not (shares_email or shares_username):
        return
    by_email = _is_found(lookup.find_by_email, person.email, person)
    by_username = _is_found(lookup.find_by_username, person.username, person)
    blocks = not (by_email or by_username)
    if shares_email and by_email:
        text = _(
            "Another user has the same e-mail address: only the exact spelling finds this user."
        )
        yield Obstacle(text, blocks=False)
    elif shares_email:
        text = _("Another user has the same e-mail address: no login finds this user by it.")
        yield Obstacle(text, blocks=blocks)
    if shares_username and by_username:
        text = _("Another user has the same username: only the exact spelling finds this user.")
        yield Obstacle(text, blocks=False)
    elif shares_username:
        text = _("Another user has the same username: no login finds this user by it.")
        yield Obstacle(text, blocks=blocks)


def _is_found(find: Callable[[str], Person | None], text: str, person: Person) -> bool:
    user = find(text) if text else None
    return user is not None and user.id == person.id


def locks(person: Person) -> list[Lock]:
    """The counters that allow no attempt now: those of core, and those of the modules."""
    return attempt_counter.locks(counters(person))


def described(lock: Lock, person: Person, parts: Sequence[Support]) -> Obstacle:
    """The sentence about a lock, with the addresses that the audit log has."""
    counter = lock.counter
    addresses: list[str] = []
    if counter.action:
        address_lists = (part.addresses(person, counter.action, lock.number) for part in parts)
        addresses = list(
            dict.fromkeys(address for address_list in address_lists for address in address_list)
        )
    address_text = ", ".join(addresses[:_NAMED])
    more_count = len(addresses) - _NAMED
    if more_count > 0:
        address_text = _("%(addresses)s and %(more)d more") % {
            "addresses": address_text,
            "more": more_count,
        }
    values = {
        "until": shown_time(lock.until),
        "number": lock.number,
        "attempts": counter.attempts,
        "addresses": address_text,
    }
    if values["addresses"]:
        text = _("Locked until %(until)s after %(number)d %(attempts)s from %(addresses)s.")
    else:
        text = _("Locked until %(until)s after %(number)d %(attempts)s.")
    return Obstacle(text % values, blocks=counter.blocks)


def shown_time(moment: datetime) -> str:
    """A time of today as "12:32", any other time with its date; in the current time zone."""
    local, today = (
        timezone.localtime(time) if timezone.is_aware(time) else time
        for time in (moment, clock.now())
    )
    is_today = local.date() == today.date()
    return str(formats.date_format(local, "H:i" if is_today else "Y-m-d H:i"))
