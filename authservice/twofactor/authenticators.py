"""Authenticator apps: their rows and secrets, and the codes that they show (TOTP).

A change that only one of several concurrent requests may make is one UPDATE with a condition on the
row itself; its row count decides which request succeeds.

The codes are time-based one-time passwords (RFC 6238): six digits, steps of 30 seconds, HMAC-SHA-1.
Every authenticator app supports these parameters, and several ignore any others. The window is
fixed at one step to either side: a window that followed the drift of a clock would also accept
later codes.
"""

from __future__ import annotations

import base64
import logging
import re
import secrets
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from django.db.models import Subquery
from django.utils.crypto import constant_time_compare
from django_otp.oath import TOTP

from authservice.core.models import Session
from authservice.core.users.person import Person
from authservice.kernel import clock, crypto, databases
from authservice.kernel.secret import Secret
from authservice.kernel.sql import Bound, Select, param, updating
from authservice.twofactor.models import Authenticator

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
    return read(row) if row else None


def read(row: Sequence[Any]) -> Authenticator | None:
    """The authenticator in a row of `FROM_TOKEN`; None if the user has none."""
    authenticator: Authenticator = Authenticator.from_db(databases.primary(), _COLUMNS, row)
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


def is_code(text: str) -> bool:
    """Whether a text has the form of a code: ASCII digits only, since `int` accepts others."""
    return _SIX_DIGITS.fullmatch(text) is not None


def matching_step(code: Secret, secret: Secret, *, after: int) -> int | None:
    """The time step of a code, if it is within the window and later than `after`; None for any
    other text."""
    if not secret or not is_code(code.reveal()):
        return None
    key, code_text = base64.b32decode(secret.reveal()), code.reveal()
    now = clock.timestamp()
    matching = []
    for drift in _WINDOW:
        oath = TOTP(key, drift=drift)
        oath.time = now  # the same time for all steps
        if constant_time_compare(f"{oath.token():06d}", code_text):
            matching.append(oath.t())
    return next((step for step in matching if step > after), None)


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
    return crypto.seal(_SEAL, f"{secret.reveal()}:{owner}")


def _opened(authenticator: Authenticator) -> Secret:
    """The secret, or an empty one if no configured key decrypts it or it belongs to another
    user."""
    if not authenticator.sealed_secret:
        return Secret("")  # the row was inserted, but no secret was written yet
    try:
        secret, _, owner = crypto.unseal(_SEAL, authenticator.sealed_secret).partition(":")
    except crypto.Unreadable:
        logger.error(
            "The secret of authenticator %s cannot be decrypted with SECRET_KEY or"
            " SECRET_KEY_FALLBACKS",
            authenticator.pk,
        )
        return Secret("")
    return Secret(secret if owner == str(authenticator.user_id) else "")
