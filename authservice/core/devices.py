"""Known devices: a signed token that names an account and a device that signed in to it.

It opens nothing. It gives its bearer a guess budget of its own, so that strangers who use up the
one of an identifier cannot lock its owner out (the device cookie of OWASP's guide on slowing down
online guessing attacks).
"""

from __future__ import annotations

import time
import uuid
from datetime import datetime, timedelta

from authservice.core.people import Person
from authservice.kernel import crypto

TTL = timedelta(days=365)
_PURPOSE = "device"


def token(person: Person, device_id: uuid.UUID) -> str:
    return crypto.sign(_PURPOSE, ":".join([device_id.hex, str(int(time.time())), _owner(person)]))


def known(
    device_token: str, person: Person | None, *, since: datetime | None = None
) -> uuid.UUID | None:
    """The device a token names, if it names this very account too and was not handed out before
    the second of `since`."""
    if not device_token or person is None:
        return None
    try:
        device, issued, owner = crypto.unsign(_PURPOSE, device_token).split(":", 2)
    except ValueError:
        return None
    fresh = time.time() - int(issued) < TTL.total_seconds()
    if since is not None and int(issued) < int(since.timestamp()):
        return None
    return uuid.UUID(hex=device) if fresh and owner == _owner(person) else None


def _owner(person: Person) -> str:
    # A reset raises the version: who signed in before it has no claim on a budget. Not bound to the
    # password hash, which a login may better at any time.
    return f"{person.token_version}:{person.id}"
