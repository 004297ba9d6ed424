"""Checks a code of either kind against an authenticator, and uses it."""

from __future__ import annotations

from authservice.core.users.person import Person
from authservice.kernel import events
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.twofactor import authenticators, backup_codes, lockout
from authservice.twofactor.lockout import Kind
from authservice.twofactor.models import Authenticator


def consume(kind: Kind, authenticator: Authenticator, code: Secret) -> bool:
    """Whether the code is right and this call used it. Count an attempt before calling this."""
    if not authenticator.confirmed:
        return False
    if kind == lockout.BACKUP_CODE:
        return backup_codes.consume(authenticator, code)
    step = authenticators.step_of(authenticator, code)
    return step is not None and authenticators.use(authenticator, step)


def record_verified(kind: Kind, person: Person, client: Client) -> None:
    if kind == lockout.BACKUP_CODE:
        events.record("auth.2fa.backup_used", person, client, method=kind)
    events.record("auth.2fa.verified", person, client, method=kind)
