"""Codes of the app and backup codes: an attempt is counted, then the code is checked and used.

A set has ten backup codes of 60 random bits each. Each code works once in place of a code of the
app. It is stored as a keyed digest of the authenticator's primary key and the code. Imported codes
may be shorter: 8 digits have 26 bits, which the limit of attempts protects.

Attempts are counted per account and kind of code. The counters span all logins and routes, so a new
temp_token gives no further attempts. Codes of the app and backup codes are counted separately, so a
lockout of one kind leaves the other usable. A device on which a code was entered, to enable the
factor or to log in, has attempts of its own: an attacker who has the password cannot lock the owner
out. Devices that signed in before 2FA was enabled get no attempts of their own: an attacker with
the password could have registered any number of them.
"""

from __future__ import annotations

import base64
import re
import secrets
import uuid
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Literal

from authservice.core.credentials import attempt_counter, known_devices
from authservice.core.credentials.attempt_counter import Budget
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, crypto, events, typed_codes
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.kernel.sql import Bound, updating
from authservice.twofactor import authenticators
from authservice.twofactor.models import Authenticator, BackupCode

Kind = Literal["totp", "backup_code"]
TOTP: Kind = "totp"
BACKUP_CODE: Kind = "backup_code"
_KINDS = (TOTP, BACKUP_CODE)
BUDGET = Budget(limit=10, window=timedelta(minutes=15), longest=timedelta(hours=1), daily=50)
NUMBER = 10  # backup codes of a set
_CHARACTERS = 12  # of base32, 5 bits each
_GROUP = 4
# Our backup codes have 12 characters of base32; imported ones may have other characters or lengths.
# The minimum is more than six, since six digits are a code of the app.
_BARE = re.compile(r"[A-Z0-9]{8,32}")
_DIGEST = "backup-code"


def kind_of(code: Secret) -> Kind:
    return TOTP if authenticators.is_code(code.reveal()) else BACKUP_CODE


def count_attempt(kind: Kind, person: Person, authenticator: Authenticator, client: Client) -> str:
    """Count one attempt; returns the key of the counter. Raises `TooManyAttempts` and records it.

    Call this outside any transaction that the refusal would roll back.
    """
    key = counter(kind, person, authenticator, client)

    def report() -> None:
        action = "security.account.throttled"
        events.record(action, person, client, reason="throttled", method=kind)

    attempt_counter.consume(key, BUDGET, report=report)
    return key


def counter(kind: Kind, person: Person, authenticator: Authenticator, client: Client) -> str:
    """The key of the counter: of a device with attempts of its own, otherwise of the account."""
    device = known_devices.find_device(client.device_token, person)
    # Any device but that on which the factor was enabled must have signed in since then.
    if device is not None and device != authenticator.device_id:
        device = known_devices.find_device(
            client.device_token, person, since=authenticator.enabled_at
        )
    return _on_device(kind, device) if device else _of_account(kind, person)


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
    """Call this outside any transaction that the refusal would roll back."""
    events.record("auth.2fa.failed", person, client, reason="invalid_code", method=kind)


def consume(kind: Kind, authenticator: Authenticator, code: Secret) -> bool:
    """Whether the code is right and this call used it. Count an attempt before calling this."""
    use = use_statement(kind, authenticator, code)
    return use is not None and use.run() > 0


def use_statement(kind: Kind, authenticator: Authenticator, code: Secret) -> Bound | None:
    """The UPDATE that uses the code up: it changes one row if the code is right and unused. None if
    the code is already known to be wrong. Count an attempt before calling this."""
    if not authenticator.confirmed:
        return None
    if kind == TOTP:
        return authenticators.use_statement(authenticator, code)
    bare = _bare(code.reveal())
    if not bare:
        return None
    # All conditions are on the row itself. After waiting for a row lock, PostgreSQL re-checks
    # conditions on that row only; with a join, concurrent requests could use the same code.
    unused = BackupCode.objects.filter(
        authenticator_id=authenticator.pk,
        digest__in=crypto.digests(_DIGEST, f"{authenticator.pk}|{bare.reveal()}"),
        used_at=None,
    )
    return updating(unused, used_at=clock.now())


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
    person = lookup.get_person(authenticator.user)
    client = Client()
    kind = kind_of(code)
    key = counter(kind, person, authenticator, client)
    if not attempt_counter.try_consume(key, BUDGET):
        return False
    if not consume(kind, authenticator, code):
        record_failure(kind, person, client)
        return False
    attempt_counter.refund(key)
    record_verified(kind, person, client)
    return True


def replace(authenticator: Authenticator) -> list[Secret]:
    """A new set of backup codes, as users type them; the old ones are deleted, used or not."""
    codes = [
        Secret(base64.b32encode(secrets.token_bytes(8)).decode()[:_CHARACTERS])
        for _ in range(NUMBER)
    ]
    BackupCode.objects.filter(authenticator=authenticator.pk).delete()
    BackupCode.objects.bulk_create(
        BackupCode(authenticator_id=authenticator.pk, digest=_digest(authenticator, code))
        for code in codes
    )
    groups = range(0, _CHARACTERS, _GROUP)
    return [
        Secret("-".join(code.reveal()[start : start + _GROUP] for start in groups))
        for code in codes
    ]


def remaining(authenticator: Authenticator) -> int:
    """How many backup codes are unused."""
    return BackupCode.objects.filter(authenticator=authenticator.pk, used_at=None).count()


def is_importable(code: Secret) -> bool:
    """Whether a backup code of another package can be stored: its form must not be that of a code
    of the app, and a user must be able to type it."""
    return bool(_bare(code.reveal()))


def digest_of(authenticator: Authenticator, code: Secret) -> str:
    """The digest to store for an importable backup code of another package."""
    return _digest(authenticator, _bare(code.reveal()))


def _bare(typed: str) -> Secret:
    """The backup code in the form that the digest is made of, or "" if it cannot be one. Users type
    codes from paper, with or without hyphens and spaces, in upper or lower case."""
    bare = typed_codes.read(typed)
    bare = bare.upper() if bare.isascii() else ""
    return Secret(bare if _BARE.fullmatch(bare) else "")


def _digest(authenticator: Authenticator, code: Secret) -> str:
    return crypto.digest(_DIGEST, f"{authenticator.pk}|{code.reveal()}")
