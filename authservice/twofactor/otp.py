"""Verifies codes for django-otp's forms by the rules of the API: counted and recorded the same way.

Those forms call this within a transaction and commit it when they refuse a code, so the counted
attempt stays.
"""

from __future__ import annotations

from authservice.core.credentials import attempt_counter
from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.twofactor import codes, lockout
from authservice.twofactor.models import Authenticator


def check_code(authenticator: Authenticator, token: str | Secret) -> bool:
    """Whether the token is a valid code of the app or backup code. A valid code is then used."""
    code = token if isinstance(token, Secret) else Secret(token)
    person, client, kind = lookup.get_person(authenticator.user), Client(), lockout.kind_of(code)
    counter = lockout.counter(kind, person, authenticator, client)
    if not attempt_counter.try_consume(counter, lockout.BUDGET):
        return False
    if not codes.consume(kind, authenticator, code):
        lockout.record_failure(kind, person, client)
        return False
    attempt_counter.refund(counter)
    codes.record_verified(kind, person, client)
    return True
