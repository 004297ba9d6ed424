"""Fills the slot `second_factor`, by which core checks second factors outside the one door."""

from __future__ import annotations

from functools import partial

from django.db import transaction

from authservice.core.credentials import lockout
from authservice.core.credentials.lockout import CountedAttempt
from authservice.core.users.person import Person
from authservice.kernel import databases, errors
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.twofactor import authenticators, codes, gate
from authservice.twofactor import lockout as code_lockout
from authservice.twofactor.lockout import Kind
from authservice.twofactor.models import Authenticator


class SecondFactor:
    """Authenticator apps and their backup codes."""

    def is_enabled(self, person: Person) -> bool:
        return _enabled(person) is not None

    def is_required(self, person: Person) -> bool:
        return gate.is_required(person)

    def verify(self, person: Person, code: Secret, client: Client) -> None:
        """Verify a code by the rules and attempt limits of the API. A remembered device does not
        replace the code. Raises `TwoFactorRefused` or `TooManyAttempts`."""
        found = _enabled(person)
        if found is None:
            raise errors.TwoFactorRefused
        network = lockout.network_of(person, client)
        lockout.count_throttle(network)
        kind = code_lockout.kind_of(code)
        attempt = CountedAttempt(code_lockout.consume(kind, person, found, client), network=network)
        if not _consumed(kind, found, code, person, client, attempt):
            code_lockout.record_failure(kind, person, client)
            raise errors.TwoFactorRefused


def _enabled(person: Person) -> Authenticator | None:
    found = authenticators.of(person)
    return found if found and found.confirmed else None


def _consumed(
    kind: Kind,
    found: Authenticator,
    code: Secret,
    person: Person,
    client: Client,
    attempt: CountedAttempt,
) -> bool:
    refund = partial(_refund, attempt)
    with lockout.refund_unless_checked(refund), transaction.atomic(using=databases.primary()):
        if not codes.consume(kind, found, code):
            return False
        codes.record_verified(kind, person, client)
        refund()
        return True


def _refund(attempt: CountedAttempt) -> None:
    attempt.refund()
    attempt.refund_throttle()


second_factor = SecondFactor()
