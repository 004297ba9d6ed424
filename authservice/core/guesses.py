"""Which counters of guesses stand between a person and the door, and what starts them anew."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connections

from authservice.core import attempts, directory, identity
from authservice.core.models import SignIn
from authservice.core.people import Person
from authservice.kernel import errors


def at(identifier_key: str) -> str:
    """Passwords tried for an identifier, known or not."""
    return attempts.key("password", identifier_key)


def on_device(device: uuid.UUID) -> str:
    """Passwords tried on a device that signed in before."""
    return attempts.key("device", device.hex)


def at_change(person: Person) -> str:
    """Old passwords tried by somebody who is signed in."""
    return attempts.key("change-password", person.id)


@contextmanager
def no_guess_unless_judged(give_back: Callable[[], None]) -> Iterator[None]:
    """Give back what was counted where no verdict came of it.

    A store that is away for a while, or transactions that the database ends for deadlocks, must not
    add up to a lock. Around the transaction: inside one that is lost nothing can be given back.
    """
    try:
        yield
    except (errors.ServiceUnavailable, DatabaseError):
        if not connections[directory.database()].in_atomic_block:
            give_back()
        raise


def forgive(people: Iterable[Person]) -> None:
    """Unlock these people: whatever was guessed at them, on whichever device, is forgotten."""
    known = list(people)
    devices = SignIn.objects.using(directory.database()).filter(
        user__in=[person.user.pk for person in known], device_id__isnull=False
    )
    keys = [key for person in known for key in _of(person)]
    found = devices.values_list("device_id", flat=True).distinct()
    keys += [on_device(device) for device in found if device]
    attempts.forget(keys)


def _of(person: Person) -> Iterator[str]:
    if person.email:
        yield at(person.email_key)
    if person.username:
        yield at(identity.username_key(person.username))
    yield at_change(person)
