"""Codes of the app and backup codes: an attempt is counted, then the code is checked and used.

Attempts are counted per account and kind of code. The counters span all logins and routes, so a new
temp_token gives no further attempts. Codes of the app and backup codes are counted separately, so a
lockout of one kind leaves the other usable. A device on which a code was entered, to enable the
factor or to log in, has attempts of its own: an attacker who has the password cannot lock the owner
out. Devices that signed in before 2FA was enabled get no attempts of their own: an attacker with
the password could have registered any number of them.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Literal

from authservice.core.credentials import attempt_counter, known_devices
from authservice.core.credentials.attempt_counter import Budget
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, events, typed_codes
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.twofactor import authenticators, backup_codes, totp
from authservice.twofactor.models import Authenticator

Kind = Literal["totp", "backup_code"]
TOTP: Kind = "totp"
BACKUP_CODE: Kind = "backup_code"
_KINDS = (TOTP, BACKUP_CODE)
BUDGET = Budget(limit=10, window=timedelta(minutes=15), longest=timedelta(hours=1), daily=50)


def kind_of(code: Secret) -> Kind:
    return TOTP if totp.is_code(code.reveal()) else BACKUP_CODE


def count_attempt(kind: Kind, person: Person, authenticator: Authenticator, client: Client) -> str:
    """Count one attempt; returns the key of the counter. Raises `TooManyAttempts` and records it.

    Call it outside any transaction that the refusal would roll back.
    """
    key = counter(kind, person, authenticator, client)

    def report() -> None:
        _record("security.account.throttled", kind, person, client, reason="throttled")

    attempt_counter.consume(key, BUDGET, report=report)
    return key


def counter(kind: Kind, person: Person, authenticator: Authenticator, client: Client) -> str:
    device = _device(person, authenticator, client)
    return _on_device(kind, device) if device else _of_account(kind, person)


def _device(person: Person, authenticator: Authenticator, client: Client) -> uuid.UUID | None:
    device = known_devices.known(client.device_token, person)
    if device is None or device == authenticator.device_id:
        return device
    return known_devices.known(client.device_token, person, since=authenticator.enabled_at)


def _of_account(kind: Kind, person: Person) -> str:
    return attempt_counter.key(f"2fa-{kind}", person.id)


def _on_device(kind: Kind, device: uuid.UUID) -> str:
    return attempt_counter.key(f"2fa-{kind}-device", device.hex)


def unlock(people: Iterable[Person]) -> None:
    """Reset the attempts of these users, for their accounts and for all their devices."""
    attempt_counter.reset([key for person in people for _, key in keys(person)])


def keys(person: Person) -> Iterator[tuple[Kind, str]]:
    """Each counter of the user with the kind of its codes, for the account and for all devices."""
    for kind in _KINDS:
        yield kind, _of_account(kind, person)
        for device in known_devices.ids(person):
            yield kind, _on_device(kind, uuid.UUID(hex=device))


def record_failure(kind: Kind, person: Person, client: Client) -> None:
    """Call it outside any transaction that the refusal would roll back."""
    _record("auth.2fa.failed", kind, person, client, reason="invalid_code")


def _record(action: str, kind: Kind, person: Person, client: Client, *, reason: str) -> None:
    events.record(action, person, client, reason=reason, method=kind)


@clock.once
def consume(kind: Kind, authenticator: Authenticator, code: Secret) -> bool:
    """Whether the code is right and this call used it. Count an attempt before calling this."""
    if not authenticator.confirmed:
        return False
    if kind == BACKUP_CODE:
        return backup_codes.consume(authenticator, code)
    step = authenticators.step_of(authenticator, code)
    return step is not None and authenticators.use(authenticator, step)


def record_verified(kind: Kind, person: Person, client: Client) -> None:
    if kind == BACKUP_CODE:
        events.record("auth.2fa.backup_used", person, client, method=kind)
    events.record("auth.2fa.verified", person, client, method=kind)


@clock.once
def check_code(authenticator: Authenticator, token: str | Secret) -> bool:
    """Whether the token is a valid code of the app or backup code. A valid code is then used.

    For the forms of django-otp, by the rules of the API: counted and recorded the same way. Those
    forms call this within a transaction and commit it when they refuse a code, so the counted
    attempt stays.
    """
    code = Secret(typed_codes.read(token.reveal() if isinstance(token, Secret) else token))
    person, client, kind = lookup.get_person(authenticator.user), Client(), kind_of(code)
    key = counter(kind, person, authenticator, client)
    if not attempt_counter.try_consume(key, BUDGET):
        return False
    if not consume(kind, authenticator, code):
        record_failure(kind, person, client)
        return False
    attempt_counter.refund(key)
    record_verified(kind, person, client)
    return True
