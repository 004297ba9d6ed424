"""Authenticator apps and backup codes: rows and secrets, the codes that apps show (TOTP), and their
check: an attempt is counted, then the code is checked and used.

A change that only one of several concurrent requests may make is one UPDATE with a condition on the
row itself; its row count decides which request succeeds.

The codes are time-based one-time passwords (RFC 6238): six digits, steps of 30 seconds, HMAC-SHA-1.
Every authenticator app supports these parameters, and several ignore any others. The window is
fixed at one step to either side: a window that followed the drift of a clock would also accept
later codes.

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
import logging
import re
import secrets
import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal
from urllib.parse import quote, urlencode

from django.db.models import Subquery
from django.utils.crypto import constant_time_compare
from django_otp import oath

from authservice.core.credentials import attempt_counter, lockout
from authservice.core.credentials.attempt_counter import Budget
from authservice.core.models import Session
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret, Unreadable, digest, digests, seal, typed_code, unseal
from authservice.kernel.sql import Bound, Select, param, updating
from authservice.twofactor.models import Authenticator, BackupCode

logger = logging.getLogger("authservice.twofactor")

_SEAL = "totp-secret"
_WINDOW = (-1, 0, 1)  # steps from now, the earliest first
_OCTETS = 20  # the length that RFC 4226 section 4 recommends
_SIX_DIGITS = re.compile(r"[0-9]{6}")
_COLUMNS = tuple(field.attname for field in Authenticator._meta.concrete_fields)
# The same columns as look-ups from a one-time token, to read the token and the authenticator of its
# user in one statement.
FROM_TOKEN = tuple(f"user__authservice_authenticator__{name}" for name in _COLUMNS)

_BY_USER = Select(
    lambda: (
        Authenticator.objects.filter(user=param("user", Authenticator))
        .order_by()
        .values_list(*_COLUMNS)
    )
)


def of(person: Person) -> Authenticator | None:
    """The user's authenticator, confirmed or not."""
    using = databases.primary()
    row = _BY_USER.first(using, user=person.user.pk)
    return Authenticator.from_db(using, _COLUMNS, row) if row else None


def read(row: Sequence[Any], using: str | None) -> Authenticator | None:
    """The authenticator in a row of `FROM_TOKEN`; None if the user has none."""
    authenticator: Authenticator = Authenticator.from_db(using, _COLUMNS, row)
    return authenticator if authenticator.pk else None


def begin(person: Person) -> None:
    """Insert a row without a secret, unless the user has a row. This is a statement of its own, so
    that concurrent set-ups cannot deadlock."""
    Authenticator.objects.bulk_create(
        [Authenticator(user_id=person.user.pk)], ignore_conflicts=True
    )


def unsaved(
    owner: Any,
    secret: Secret,
    *,
    last_step: int,
    set_up_at: datetime | None,
    last_used_at: datetime | None,
) -> Authenticator:
    """The row for an authenticator of another package, not stored yet. It counts as enabled now.
    `owner` is the primary key of its user."""
    now = clock.now()
    return Authenticator(
        user_id=owner,
        confirmed=True,
        sealed_secret=_sealed(owner, secret),
        last_step=last_step,
        set_up_at=min(set_up_at or now, now),
        enabled_at=now,
        last_used_at=last_used_at,
    )


def renew(person: Person, secret: Secret) -> Authenticator | None:
    """Replace the secret of an unconfirmed authenticator; None if it is confirmed.

    The row stays locked until the transaction ends.
    """
    renewed = Authenticator.objects.filter(user=person.user.pk, confirmed=False).update(
        enrolment=uuid.uuid4(),
        sealed_secret=_sealed(person.user.pk, secret),
        last_step=0,
        set_up_at=clock.now(),
    )
    return of(person) if renewed else None


def step_of(authenticator: Authenticator, code: Secret) -> int | None:
    """The time step of an unused code, or None for any other text."""
    return matching_step(code, _opened(authenticator), after=authenticator.last_step)


def enable(authenticator: Authenticator, step: int, *, within: Session | None = None) -> bool:
    """Confirm the authenticator with exactly the secret whose code was checked, and use its step.

    Returns False if a concurrent request replaced the secret or confirmed it. `within` is the
    session of the user, if there is one.
    """
    pending = Authenticator.objects.filter(
        pk=authenticator.pk, confirmed=False, enrolment=authenticator.enrolment
    )
    device = Session.objects.filter(pk=within.pk).values("device_id") if within else None
    now = clock.now()
    return bool(
        pending.update(
            confirmed=True,
            enabled_at=now,
            device_id=None if device is None else Subquery(device),
            last_used_at=now,
            last_step=step,
        )
    )


@clock.once
def use_statement(authenticator: Authenticator, code: Secret) -> Bound | None:
    """The UPDATE that marks the time step of an unused code as used; None for any other text. It
    changes no row if this step or a later one was used since the authenticator was read."""
    secret = _opened(authenticator)
    step = matching_step(code, secret, after=authenticator.last_step)
    if step is None:
        return None
    unused = Authenticator.objects.filter(pk=authenticator.pk, confirmed=True, last_step__lt=step)
    # The secret is sealed again, so that secrets in use move to the current key after `SECRET_KEY`
    # is rotated.
    sealed = _sealed(authenticator.user_id, secret)
    now = clock.now()
    return updating(unused, last_step=step, last_used_at=now, sealed_secret=sealed)


def is_readable(authenticator: Authenticator) -> bool:
    """Whether a key of the settings decrypts the secret."""
    return bool(_opened(authenticator).reveal())


def has_secret(authenticator: Authenticator, secret: Secret) -> bool:
    """Whether the app has this secret."""
    return _opened(authenticator) == secret


def new_secret() -> Secret:
    """160 random bits in base32, the form that users type into apps."""
    return Secret(base64.b32encode(secrets.token_bytes(_OCTETS)).decode())


def matching_step(code: Secret, secret: Secret, *, after: int) -> int | None:
    """The time step of a code, if it is within the window and later than `after`; None for any
    other text."""
    key, code_text = base64.b32decode(secret.reveal()), code.reveal()
    if not key or not _SIX_DIGITS.fullmatch(code_text):
        return None
    now = clock.timestamp()
    matching = []
    for drift in _WINDOW:
        step = oath.TOTP(key, drift=drift)
        step.time = now  # the same time for all steps
        if constant_time_compare(f"{step.token():06d}", code_text):
            matching.append(step.t())
    return next((number for number in matching if number > after), None)


def uri(secret: Secret, *, issuer: str, account: str) -> Secret:
    """The content of the QR code, in the Key URI Format of authenticator apps."""
    label = f"{quote(issuer, safe='')}:{quote(account, safe='@')}"
    query = urlencode(
        {
            "secret": secret.reveal(),
            "issuer": issuer,
            "algorithm": "SHA1",
            "digits": 6,
            "period": 30,
        },
        quote_via=quote,
    )
    return Secret(f"otpauth://totp/{label}?{query}")


def _sealed(owner: Any, secret: Secret) -> str:
    # The user's id is part of the sealed text: a sealed secret that an attacker copies to the row
    # of another user is not accepted there.
    return seal(_SEAL, f"{secret.reveal()}:{owner}")


def _opened(authenticator: Authenticator) -> Secret:
    """The secret, or an empty one if no configured key decrypts it or it belongs to another
    user."""
    if not authenticator.sealed_secret:
        return Secret("")  # the row was inserted, but no secret was written yet
    try:
        secret, _, owner = unseal(_SEAL, authenticator.sealed_secret).partition(":")
    except Unreadable:
        logger.error(
            "The secret of authenticator %s cannot be decrypted with SECRET_KEY or"
            " SECRET_KEY_FALLBACKS",
            authenticator.pk,
        )
        return Secret("")
    return Secret(secret if owner == str(authenticator.user_id) else "")


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
    # ASCII digits only: `int` accepts others.
    return TOTP if _SIX_DIGITS.fullmatch(code.reveal()) else BACKUP_CODE


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
    device = lockout.find_device(client.device, person)
    # Any device but that on which the factor was enabled must have signed in since then.
    if device is not None and device != authenticator.device_id:
        device = lockout.find_device(client.device, person, since=authenticator.enabled_at)
    return _on_device(kind, device) if device else _of_account(kind, person)


def _of_account(kind: Kind, person: Person) -> str:
    return attempt_counter.key(f"2fa-{kind}", person.id)


def _on_device(kind: Kind, device: uuid.UUID) -> str:
    return attempt_counter.key(f"2fa-{kind}-device", device.hex)


def unlock_attempts(people: Iterable[Person]) -> None:
    """Reset the attempts of these users, for their accounts and for all their devices."""
    attempt_counter.reset([key for person in people for _, key in attempt_keys(person)])


def attempt_keys(person: Person) -> Iterator[tuple[Kind, str]]:
    """Each counter of the user with the kind of its codes, for the account and for all devices."""
    for kind in _KINDS:
        yield kind, _of_account(kind, person)
        for device in lockout.device_ids(person):
            yield kind, _on_device(kind, uuid.UUID(hex=device))


def record_failure(kind: Kind, person: Person, client: Client) -> None:
    """Call this outside any transaction that the refusal would roll back."""
    events.record("auth.2fa.failed", person, client, reason="invalid_code", method=kind)


def consume_code(kind: Kind, authenticator: Authenticator, code: Secret) -> bool:
    """Whether the code is right and this call used it. Count an attempt before calling this."""
    use = use_code_statement(kind, authenticator, code)
    return use is not None and use.run() > 0


def use_code_statement(kind: Kind, authenticator: Authenticator, code: Secret) -> Bound | None:
    """The UPDATE that uses the code up: it changes one row if the code is right and unused. None if
    the code is already known to be wrong. Count an attempt before calling this."""
    if not authenticator.confirmed:
        return None
    if kind == TOTP:
        return use_statement(authenticator, code)
    bare = _bare(code.reveal())
    if not bare:
        return None
    # All conditions are on the row itself. After waiting for a row lock, PostgreSQL re-checks
    # conditions on that row only; with a join, concurrent requests could use the same code.
    unused = BackupCode.objects.filter(
        authenticator_id=authenticator.pk,
        digest__in=digests(_DIGEST, f"{authenticator.pk}|{bare.reveal()}"),
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
    code = Secret(typed_code(token.reveal() if isinstance(token, Secret) else token))
    person = lookup.get_person(authenticator.user)
    client = Client()
    kind = kind_of(code)
    key = counter(kind, person, authenticator, client)
    if not attempt_counter.try_consume(key, BUDGET):
        return False
    if not consume_code(kind, authenticator, code):
        record_failure(kind, person, client)
        return False
    attempt_counter.refund(key)
    record_verified(kind, person, client)
    return True


def replace_backup_codes(authenticator: Authenticator) -> list[Secret]:
    """A new set of backup codes, as users type them; the old ones are deleted, used or not."""
    codes = [
        Secret(base64.b32encode(secrets.token_bytes(8)).decode()[:_CHARACTERS])
        for _ in range(NUMBER)
    ]
    BackupCode.objects.filter(authenticator=authenticator.pk).delete()
    BackupCode.objects.bulk_create(
        BackupCode(authenticator_id=authenticator.pk, digest=_digest_of_bare(authenticator, code))
        for code in codes
    )
    groups = range(0, _CHARACTERS, _GROUP)
    return [
        Secret("-".join(code.reveal()[start : start + _GROUP] for start in groups))
        for code in codes
    ]


def remaining_backup_codes(authenticator: Authenticator) -> int:
    """How many backup codes are unused."""
    return BackupCode.objects.filter(authenticator=authenticator.pk, used_at=None).count()


def is_importable_backup_code(code: Secret) -> bool:
    """Whether a backup code of another package can be stored: its form must not be that of a code
    of the app, and a user must be able to type it."""
    return bool(_bare(code.reveal()))


def digest_of_backup_code(authenticator: Authenticator, code: Secret) -> str:
    """The digest to store for an importable backup code of another package."""
    return _digest_of_bare(authenticator, _bare(code.reveal()))


def _bare(typed: str) -> Secret:
    """The backup code in the form that the digest is made of, or "" if it cannot be one. Users type
    codes from paper, with or without hyphens and spaces, in upper or lower case."""
    bare = typed_code(typed)
    bare = bare.upper() if bare.isascii() else ""
    return Secret(bare if _BARE.fullmatch(bare) else "")


def _digest_of_bare(authenticator: Authenticator, code: Secret) -> str:
    return digest(_DIGEST, f"{authenticator.pk}|{code.reveal()}")
