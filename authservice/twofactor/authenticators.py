"""Rows of authenticators: read, seal and open the secret, enable, use.

A change that only one of several concurrent requests may make is one UPDATE with a condition on the
row itself; its row count decides which request succeeds.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet, Subquery

from authservice.core.models import Session
from authservice.core.users.person import Person
from authservice.kernel import clock, crypto, databases
from authservice.kernel.secret import Secret
from authservice.kernel.sql import Select, param
from authservice.twofactor import totp
from authservice.twofactor.models import Authenticator

logger = logging.getLogger("authservice.twofactor")

_SEAL = "totp-secret"
_COLUMNS = tuple(field.attname for field in Authenticator._meta.concrete_fields)
# The same columns as look-ups from a one-time token, to read both in one statement.
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
    found: Authenticator = Authenticator.from_db(databases.primary(), _COLUMNS, row)
    return found if found.pk else None


def rows() -> QuerySet[Authenticator]:
    found: QuerySet[Authenticator] = Authenticator.objects.using(databases.primary())
    return found


def begin(person: Person) -> None:
    """Insert a row without a secret, unless the user has a row. A statement of its own, so that
    concurrent set-ups cannot deadlock."""
    rows().bulk_create([Authenticator(user_id=person.user.pk)], ignore_conflicts=True)


def unsaved(
    owner: Any,
    secret: Secret,
    *,
    last_step: int,
    set_up_at: datetime | None,
    last_used_at: datetime | None,
) -> Authenticator:
    """An enabled authenticator of another package, which counts as enabled now. `owner` is the
    primary key of its user."""
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

    Its row stays locked until the transaction ends.
    """
    renewed = (
        rows()
        .filter(user=person.user.pk, confirmed=False)
        .update(
            enrolment=uuid.uuid4(),
            sealed_secret=_sealed(person.user.pk, secret),
            last_step=0,
            set_up_at=clock.now(),
        )
    )
    return of(person) if renewed else None


def step_of(authenticator: Authenticator, code: Secret) -> int | None:
    """The time step of an unused code, or None for any other text."""
    secret = _opened(authenticator)
    if not secret or not totp.is_code(code.reveal()):
        return None
    return totp.step_of(code, secret, after=authenticator.last_step)


def enable(authenticator: Authenticator, step: int, *, within: Session | None = None) -> bool:
    """Confirm the authenticator with exactly the secret whose code was checked, and use its step.

    Returns False if a concurrent request replaced the secret or confirmed it. `within` is the
    session of the user, if there is one.
    """
    pending = rows().filter(pk=authenticator.pk, confirmed=False, enrolment=authenticator.enrolment)
    now = clock.now()
    return bool(
        pending.update(
            confirmed=True,
            enabled_at=now,
            device_id=_device_of(within) if within else None,
            last_used_at=now,
            last_step=step,
        )
    )


def use(authenticator: Authenticator, step: int) -> bool:
    """Mark a time step as used; False if it, or a later one, was used already."""
    unused = rows().filter(pk=authenticator.pk, confirmed=True, last_step__lt=step)
    # Sealed again, so that secrets in use move to the current key after `SECRET_KEY` is rotated.
    sealed = _sealed(authenticator.user_id, _opened(authenticator))
    now = clock.now()
    return bool(unused.update(last_step=step, last_used_at=now, sealed_secret=sealed))


def _device_of(session: Session) -> Subquery:
    row = Session.objects.filter(pk=session.pk)
    return Subquery(row.values("device_id"))


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
