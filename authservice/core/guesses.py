"""Which counters of guesses stand between a person and the door, and letting them start anew."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator

from authservice.core import attempts, directory, identity
from authservice.core.models import SignIn
from authservice.core.people import Person


def at(identifier_key: str) -> str:
    """Passwords tried for an identifier, known or not."""
    return attempts.key("password", identifier_key)


def on_device(device: uuid.UUID) -> str:
    """Passwords tried on a device that signed in before."""
    return attempts.key("device", device.hex)


def at_change(person: Person) -> str:
    """Old passwords tried by somebody who is signed in."""
    return attempts.key("change-password", person.id)


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
