"""Attempts at mailed and texted codes, counted per address or number, known or not.

A code has six digits, and a client can request many codes, so a limit per code alone would not stop
guessing. For codes that log in or reset a password, all unknown clients together have ten attempts
a day for each target, and each known device of the account has ten; after that only links work.
Such a code allows five attempts to unknown clients and five to each known device. A code that
verifies a number gives no access to an account, so no device needs attempts of its own: it allows
five in all. The same row is written whether a code exists or not, so neither response time nor
statements reveal whether there is an account.
"""

from __future__ import annotations

import uuid

from authservice.core.credentials import attempt_counter, known_devices
from authservice.core.credentials.attempt_counter import DAY, Budget, Counter
from authservice.core.users.person import Person
from authservice.kernel.phrases import admin_text as _

TRIES = 5
# A window opens with the first attempt at a code and is longer than any code is valid.
_OPENING = Budget.fixed(limit=TRIES, window=DAY, daily=10)
_VERIFYING = Budget.fixed(limit=TRIES, window=DAY)

_VERIFY = "verify-code"
_OPEN = "code"


def counter(target_key: str, device: uuid.UUID | None, *, opens_account: bool) -> str:
    """The counter of an attempt: that of the device, if it is known and the code opens an account,
    otherwise that of the target."""
    if not opens_account:
        return attempt_counter.key(_VERIFY, target_key)
    if device is not None:
        return attempt_counter.key(f"{_OPEN}-device", device.hex)
    return attempt_counter.key(_OPEN, target_key)


def own(target_key: str, owner: Person | None) -> str:
    """The target of a code that only its owner can use: several accounts may have one number.
    Without an owner, the shared target of attempts at the codes of all these accounts."""
    return f"{target_key}|{owner.id if owner else ''}"


def count(key: str, *, opens_account: bool) -> bool:
    """Count one attempt; False if none is left, and then nothing was counted."""
    return attempt_counter.try_consume(key, _OPENING if opens_account else _VERIFYING)


def restart(person: Person, target_key: str, *, opens_account: bool) -> None:
    """Allow five attempts at a new code, within the daily limit."""
    if opens_account:
        devices = [None, *(uuid.UUID(hex=device) for device in known_devices.ids(person))]
        keys = {counter(target_key, device, opens_account=True) for device in devices}
    else:
        subjects = (own(target_key, person), own(target_key, None))
        keys = {counter(subject, None, opens_account=False) for subject in subjects}
    attempt_counter.restart_windows(keys)


def all_of(person: Person) -> list[Counter]:
    """The counters of codes that log in or reset the password of the account."""
    keys = [person.email_key, person.phone_key]
    return [
        *(_of_codes(_OPEN, key) for key in keys if key),
        *(_of_codes(f"{_OPEN}-device", device) for device in known_devices.ids(person)),
    ]


def _of_codes(scope: str, subject: str) -> Counter:
    return Counter(attempt_counter.key(scope, subject), _OPENING, _("wrong codes"), blocks=False)
