"""The second step of a sign-in: a temp_token and a code, for tokens.

Tries are counted twice before anything is judged: five for each temp_token, and those of the
account over all of them. A code and a temp_token are spent in the transaction of the sign-in.
"""

from __future__ import annotations

from functools import partial

from django.db import transaction

from authservice.core.credentials import lockout, one_time, passwords, temp_tokens
from authservice.core.credentials.lockout import CountedAttempt
from authservice.core.login import login
from authservice.core.login.login import Login
from authservice.core.models import OneTimeToken
from authservice.core.users.person import Person
from authservice.kernel import databases, errors, events
from authservice.kernel.client import Client
from authservice.kernel.events import Event
from authservice.kernel.secret import Secret
from authservice.twofactor import (
    challenges,
    codes,
    enrolment,
    gate,
    remembered_devices,
)
from authservice.twofactor import (
    lockout as code_lockout,
)
from authservice.twofactor.enrolment import Enrolment
from authservice.twofactor.lockout import Kind
from authservice.twofactor.models import Authenticator

_PROOFS = ("otp", gate.PROVEN)


def verify_login(
    temp_token: Secret, code: Secret, client: Client, *, remember: bool = False
) -> Login:
    """Sign in by a code of the app or a backup code; or, with the temp_token of somebody who must
    set up a second factor, by the first code of what they set up.

    Raises `InvalidToken`, `TwoFactorRefused`, `TooManyAttempts`, `TwoFactorNotEnabled` where
    nothing was set up yet, or a refusal of `login.complete`.
    """
    try:
        return _verify(temp_token, code, client, remember)
    except errors.InvalidToken:
        _refused(temp_token, client)
        raise


def _refused(temp_token: Secret, client: Client) -> None:
    """Record the failure, unless the token is unknown: attackers must not fill the log."""
    owner = challenges.owner_of(temp_token)
    lockout.count_throttle(lockout.network_of(owner, client))
    if owner is not None:
        reason = {"reason": "invalid_token"}
        event = Event(action="auth.2fa.failed", user=owner.user, client=client, metadata=reason)
        events.record(event)


def _verify(temp_token: Secret, code: Secret, client: Client, remember: bool) -> Login:
    try:
        person, ticket, found = challenges.find(challenges.GIVE_CODE, temp_token)
    except errors.InvalidToken:
        return _enrol(temp_token, code, client)
    if found is None or not found.confirmed:
        raise errors.InvalidToken  # given up since
    kind = code_lockout.kind_of(code)
    guess = _take_try(kind, person, ticket, found, client)
    refund = partial(_give_back, ticket, guess)
    with lockout.refund_unless_judged(refund), transaction.atomic(using=databases.primary()):
        # The user's row before the authenticator's, as in every code path that locks both.
        passwords.lock_users([person.user.pk])
        if codes.consume(kind, found, code):
            codes.record_verified(kind, person, client)
            outcome = _complete(person, ticket, client, guess)
            if remember:
                remembered_devices.remember(found, person, outcome.device_token)
            return outcome
    raise _failed(kind, person, client)


def set_up(temp_token: Secret, client: Client) -> Enrolment:
    """For somebody who must set up a second factor to sign in.

    Raises `InvalidToken`, `TwoFactorAlreadyEnabled`.
    """
    try:
        person, _, _ = challenges.find(challenges.SET_UP, temp_token)
    except errors.InvalidToken:
        _refused(temp_token, client)
        raise
    return enrolment.set_up_to_log_in(person)


def _enrol(temp_token: Secret, code: Secret, client: Client) -> Login:
    person, ticket, found = challenges.find(challenges.SET_UP, temp_token)
    if found is not None and found.confirmed:
        # Its owner was faster: a password alone must not pass by what stands now.
        raise errors.InvalidToken
    pending = enrolment.pending_of(found)
    guess = _take_try(code_lockout.TOTP, person, ticket, pending, client)
    refund = partial(_give_back, ticket, guess)
    with lockout.refund_unless_judged(refund), transaction.atomic(using=databases.primary()):
        passwords.lock_users([person.user.pk])
        if enrolment.enable(pending, code, person, client):
            return _complete(person, ticket, client, guess)
    raise _failed(code_lockout.TOTP, person, client)


def _take_try(
    kind: Kind, person: Person, ticket: OneTimeToken, authenticator: Authenticator, client: Client
) -> CountedAttempt:
    """Ask whether they may come in at all, while a refusal undoes nothing, and count a try."""
    login.check_may_sign_in(person, client, method=ticket.payload["method"])
    lockout.count_throttle(lockout.network_of(person, client))
    # First the ticket: one that is used up takes nothing more from the account.
    challenges.count_attempt(ticket)
    key = code_lockout.consume(kind, person, authenticator, client)
    return CountedAttempt(key, network=lockout.network_of(person, client))


def _give_back(ticket: OneTimeToken, guess: CountedAttempt) -> None:
    temp_tokens.refund(ticket)
    guess.refund()
    guess.refund_throttle()


def _complete(person: Person, ticket: OneTimeToken, client: Client, guess: CountedAttempt) -> Login:
    waiting = ticket.payload
    proofs = (*waiting["proofs"], *_PROOFS)
    outcome = login.complete(person, client, method=waiting["method"], proofs=proofs, guess=guess)
    # The ticket comes last. Whatever changes a password, or betters its hash, holds the user's row
    # first and the tickets after it; the other way round the two would wait for each other. Its
    # mark tells whether the hash is another one since: what began with the old one would be over.
    if not one_time.consume(ticket, password_fingerprint=ticket.password_fingerprint):
        raise errors.InvalidToken  # another request was faster, and all of this one is undone
    guess.refund_throttle()
    return outcome


def _failed(kind: Kind, person: Person, client: Client) -> errors.TwoFactorRefused:
    code_lockout.record_failure(kind, person, client)
    return errors.TwoFactorRefused()
