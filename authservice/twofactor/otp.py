"""What django-otp's forms ask of an authenticator: by the same rules, counted and told alike.

Its forms hold a transaction open meanwhile, and commit it when they refuse: the count stays.
"""

from __future__ import annotations

from authservice.core import attempts, directory
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.twofactor import codes, guessing
from authservice.twofactor.models import Authenticator


def judge(authenticator: Authenticator, token: str | Secret) -> bool:
    """Whether this was a code of the app or a backup code, which then was used up."""
    code = token if isinstance(token, Secret) else Secret(token)
    person, client, kind = directory.of(authenticator.user), Client(), guessing.kind_of(code)
    counter = guessing.counter(kind, person, authenticator, client)
    if not attempts.counted(counter, guessing.BUDGET):
        return False
    if not codes.spend(kind, authenticator, code):
        guessing.tell_failed(kind, person, client)
        return False
    attempts.give_back(counter)
    codes.tell_verified(kind, person, client)
    return True
