"""Staff unlock users: reset the counters of all attempts at accounts, also those of modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from authservice.core.credentials import attempt_counter, lockout
from authservice.core.credentials.attempt_counter import Counter
from authservice.core.users.person import Person
from authservice.kernel import events
from authservice.kernel.client import Client
from authservice.kernel.modules import plugs


def counters(person: Person) -> list[Counter]:
    """Every counter of attempts at the account."""
    found = list(lockout.counters(person))
    for part in plugs("support"):
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
