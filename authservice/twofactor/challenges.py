"""The step between a proof and the tokens: a temp_token, which is a one-time secret like others.

It names who proved what by which road, so that the sign-in goes on where it stopped. It is found
for its own purpose alone and is no token of a sign-in, so it opens nothing else.
"""

from __future__ import annotations

from datetime import timedelta

from authservice.core.credentials import one_time, temp_tokens
from authservice.core.credentials.one_time import Purpose
from authservice.core.models import OneTimeToken
from authservice.core.users.person import Person
from authservice.kernel import errors
from authservice.kernel.interfaces import Arrival, Challenge
from authservice.kernel.secret import Secret
from authservice.twofactor import authenticators
from authservice.twofactor.models import Authenticator

# They were handed to the caller, not sent to an address.
GIVE_CODE = Purpose("2fa", link_ttl=timedelta(minutes=5), addressed=False)
# Longer, since an app may have to be installed first; there is nothing to guess yet.
SET_UP = Purpose("2fa_setup", link_ttl=timedelta(minutes=15), addressed=False)

_TEXTS = {
    GIVE_CODE.name: "Enter a code of your authenticator app, or a backup code.",
    SET_UP.name: "A second factor is needed here: set up an authenticator app to go on.",
}


def issue(purpose: Purpose, arrival: Arrival) -> Challenge:
    """A challenge of the purpose's name; the arrival waits in its ticket."""
    person: Person = arrival.person
    waiting = {"method": arrival.method, "proofs": list(arrival.proofs)}
    said = {
        "requires_2fa": True,
        "temp_token": one_time.issue_link(purpose, person, payload=waiting),
        "user_id": person.id,
        "message": _TEXTS[purpose.name],
    }
    return Challenge(purpose.name, said)


def find(purpose: Purpose, temp_token: Secret) -> tuple[Person, OneTimeToken, Authenticator | None]:
    """Whose it is, with their authenticator, in one statement. Raises `InvalidToken`."""
    try:
        person, ticket, row = one_time.find_open(purpose, temp_token, *authenticators.BESIDE_TICKET)
    except errors.InvalidLink as wrong:
        raise errors.InvalidToken from wrong
    return person, ticket, authenticators.read(row)


def owner_of(temp_token: Secret) -> Person | None:
    """The user whom a temp_token was issued to, even if it is spent or expired."""
    return one_time.owner_of(temp_token, GIVE_CODE, SET_UP)


def count_attempt(ticket: OneTimeToken) -> None:
    """Raises `TooManyAttempts`, or `InvalidToken` where another request was faster."""
    try:
        temp_tokens.count_attempt(ticket)
    except errors.InvalidLink as wrong:
        raise errors.InvalidToken from wrong
