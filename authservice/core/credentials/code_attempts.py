"""Attempts at mailed and texted codes, counted per address or number, known or not.

A code has six digits, and a client can request many codes, so a limit per code alone would not stop
guessing. For codes that log in or reset a password, all unknown clients together have ten attempts
a day for each target, and each known device of the account has ten; after that only links work. A
single code takes five attempts. The same row is written whether a code exists or not, so neither
time nor statements show whether there is an account.
"""

from __future__ import annotations

import uuid

from authservice.core import attempts, devices
from authservice.core.attempts import DAY, Budget
from authservice.core.people import Person

TRIES = 5
_OPENING = Budget.fixed(limit=TRIES, window=DAY, daily=10)
# A code that verifies a number gives no access to an account.
_VERIFYING = Budget.fixed(limit=TRIES, window=DAY)

_VERIFY = "verify-code"
_OPEN = "code"


def counter(target_key: str, device: uuid.UUID | None, *, opens_account: bool) -> str:
    """The counter of an attempt: that of a known device, otherwise that of the target."""
    scope = _OPEN if opens_account else _VERIFY
    if device is not None:
        return attempts.key(f"{scope}-device", device.hex)
    return attempts.key(scope, target_key)


def count(key: str, *, opens_account: bool) -> bool:
    """Count one attempt; False if none is left, and then nothing was counted."""
    return attempts.counted(key, _OPENING if opens_account else _VERIFYING)


def renew(person: Person, target_key: str, *, opens_account: bool) -> None:
    """Allow five attempts at a new code, within the daily limit."""
    known = [None, *(uuid.UUID(hex=device) for device in devices.ids(person))]
    attempts.reopen([counter(target_key, it, opens_account=opens_account) for it in known])


def all_of(person: Person) -> list[str]:
    """The counters of codes that log in or reset the password of the account."""
    targets = [key for key in (person.email_key, person.phone_key) if key]
    return [
        *(attempts.key(_OPEN, target) for target in targets),
        *(attempts.key(f"{_OPEN}-device", device) for device in devices.ids(person)),
    ]
