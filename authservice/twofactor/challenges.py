"""The challenge between the first factor and the tokens: a temp_token, which is a one-time token.

Its row stores the user, the proofs so far and the way to sign in, so that the login continues where
it stopped. It is valid for its own purpose only and is not an access token, so it gives access to
nothing else.
"""

from __future__ import annotations

from datetime import timedelta

from authservice.core.credentials import one_time, temp_tokens
from authservice.core.credentials.one_time import Purpose
from authservice.core.models import OneTimeToken
from authservice.core.users.person import Person
from authservice.kernel import errors
from authservice.kernel.interfaces import Arrival, Challenge
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.twofactor import authenticators
from authservice.twofactor.models import Authenticator

# `addressed=False`: temp_tokens are part of a response, not sent to an address.
GIVE_CODE = Purpose("2fa", link_ttl=timedelta(minutes=5), addressed=False)
# Longer, since the user may have to install an app first; there is no code to attack yet.
SET_UP = Purpose("2fa_setup", link_ttl=timedelta(minutes=15), addressed=False)

_TEXTS = {
    GIVE_CODE.name: phrase("Enter a code of your authenticator app, or a backup code."),
    SET_UP.name: phrase("A second factor is required: set up an authenticator app to continue."),
}


def issue(purpose: Purpose, arrival: Arrival) -> Challenge:
    """A challenge of the purpose's type; the arrival is stored with its one-time token."""
    person: Person = arrival.person
    stored = {"method": arrival.method, "proofs": list(arrival.proofs)}
    content = {
        "requires_2fa": True,
        "temp_token": one_time.issue_link(purpose, person, payload=stored),
        "user_id": person.id,
        "message": _TEXTS[purpose.name],
    }
    return Challenge(purpose.name, content)


def find(purpose: Purpose, temp_token: Secret) -> tuple[Person, OneTimeToken, Authenticator | None]:
    """The user, the one-time token and the user's authenticator, read in one statement.

    Raises `InvalidToken`.
    """
    try:
        person, token, row = one_time.find_open(purpose, temp_token, *authenticators.FROM_TOKEN)
    except errors.InvalidLink as wrong:
        raise errors.InvalidToken from wrong
    return person, token, authenticators.read(row)


def owner_of(temp_token: Secret) -> Person | None:
    """The user of a temp_token, even if it is used or expired."""
    return one_time.owner_of(temp_token, GIVE_CODE, SET_UP)


def count_attempt(token: OneTimeToken) -> None:
    """Raises `TooManyAttempts`, or `InvalidToken` if a concurrent request used the token."""
    try:
        temp_tokens.count_attempt(token)
    except errors.InvalidLink as wrong:
        raise errors.InvalidToken from wrong
