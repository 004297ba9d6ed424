"""The second step of a login: exchanges a temp_token and a code for tokens.

Each attempt is counted twice before the code is checked: for the temp_token (at most five), and for
the account over all temp_tokens. The code and the temp_token are used in the transaction of the
login.
"""

from __future__ import annotations

from functools import partial

from django.db import transaction

from authservice.core.credentials import lockout, one_time, passwords, temp_tokens
from authservice.core.credentials.lockout import CountedAttempt
from authservice.core.login import hooks, login
from authservice.core.login.hooks import Prepared
from authservice.core.login.login import Login
from authservice.core.models import OneTimeToken
from authservice.core.users.person import Person
from authservice.kernel import databases, errors, events
from authservice.kernel.client import Client
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
    """Log in with a code of the app or a backup code.

    For a user who must set up a second factor, this is the first code of the new factor. Raises
    `InvalidToken`, `TwoFactorRefused`, `TooManyAttempts`, `TwoFactorNotEnabled` if nothing was set
    up yet, an error of `login.complete`, or `Refused`.
    """
    try:
        return _verify(temp_token, code, client, remember).admitted()
    except errors.InvalidToken:
        _record_refusal(temp_token, client)
        raise


def _record_refusal(temp_token: Secret, client: Client) -> None:
    """Record the failure, unless the token is unknown: attackers must not fill the log."""
    owner = challenges.owner_of(temp_token)
    lockout.count_throttle(lockout.network_of(owner, client))
    if owner is not None:
        events.record("auth.2fa.failed", owner, client, reason="invalid_token")


def _verify(temp_token: Secret, code: Secret, client: Client, remember: bool) -> Login:
    try:
        person, token, found = challenges.find(challenges.GIVE_CODE, temp_token)
    except errors.InvalidToken:
        return _enrol(temp_token, code, client)
    if found is None or not found.confirmed:
        raise errors.InvalidToken  # the factor was disabled after the challenge was issued
    kind = code_lockout.kind_of(code)
    attempt = _count_attempt(kind, person, token, found, client)
    prepared = _prepare(person, token, client)
    refund = partial(_refund, token, attempt)
    with lockout.refund_unless_checked(refund), transaction.atomic(using=databases.primary()):
        # The user's row before the authenticator's, as in every code path that locks both.
        passwords.lock_users([person.user.pk])
        if codes.consume(kind, found, code):
            codes.record_verified(kind, person, client)
            outcome = _complete(person, token, client, attempt, prepared)
            if remember and outcome.refusal is None:
                remembered_devices.remember(found, person, outcome.device_token)
            return outcome
    raise _failed(kind, person, client)


def set_up(temp_token: Secret, client: Client) -> Enrolment:
    """Set up a second factor for a user who cannot log in without one.

    Raises `InvalidToken`, `TwoFactorAlreadyEnabled`.
    """
    try:
        person, _, _ = challenges.find(challenges.SET_UP, temp_token)
    except errors.InvalidToken:
        _record_refusal(temp_token, client)
        raise
    return enrolment.set_up_to_log_in(person)


def _enrol(temp_token: Secret, code: Secret, client: Client) -> Login:
    person, token, found = challenges.find(challenges.SET_UP, temp_token)
    if found is not None and found.confirmed:
        # The user enabled a factor in the meantime: the password alone must not bypass it.
        raise errors.InvalidToken
    pending = enrolment.pending_of(found)
    attempt = _count_attempt(code_lockout.TOTP, person, token, pending, client)
    prepared = _prepare(person, token, client)
    refund = partial(_refund, token, attempt)
    with lockout.refund_unless_checked(refund), transaction.atomic(using=databases.primary()):
        passwords.lock_users([person.user.pk])
        if enrolment.enable(pending, code, person, client):
            return _complete(person, token, client, attempt, prepared)
    raise _failed(code_lockout.TOTP, person, client)


def _count_attempt(
    kind: Kind, person: Person, token: OneTimeToken, authenticator: Authenticator, client: Client
) -> CountedAttempt:
    """Check that the user may sign in, and count an attempt; call it outside any transaction, so
    that a refusal rolls nothing back."""
    login.check_may_log_in(person, client, method=token.payload["method"])
    lockout.count_throttle(lockout.network_of(person, client))
    # The temp_token first: one without attempts left uses up no attempt of the account.
    challenges.count_attempt(token)
    key = code_lockout.consume(kind, person, authenticator, client)
    return CountedAttempt(key, network=lockout.network_of(person, client))


def _refund(token: OneTimeToken, attempt: CountedAttempt) -> None:
    temp_tokens.refund(token)
    attempt.refund()
    attempt.refund_throttle()


def _prepare(person: Person, token: OneTimeToken, client: Client) -> Prepared:
    method = token.payload["method"]
    return hooks.prepare(person.user, client, method=method, proofs=_proofs(token))


def _proofs(token: OneTimeToken) -> tuple[str, ...]:
    return (*token.payload["proofs"], *_PROOFS)


def _complete(
    person: Person,
    token: OneTimeToken,
    client: Client,
    attempt: CountedAttempt,
    prepared: Prepared,
) -> Login:
    outcome = login.complete(
        person,
        client,
        method=token.payload["method"],
        proofs=_proofs(token),
        attempt=attempt,
        prepared=prepared,
    )
    # The one-time token comes last (lock order): a password change or a hash upgrade locks the
    # user's row first and the user's one-time tokens after it; the opposite order would deadlock.
    # The fingerprint in the condition refuses a login that began with a password since replaced.
    if not one_time.consume(token, password_fingerprint=token.password_fingerprint):
        raise errors.InvalidToken  # a concurrent request used it; this one is rolled back
    attempt.refund_throttle()
    return outcome


def _failed(kind: Kind, person: Person, client: Client) -> errors.TwoFactorRefused:
    code_lockout.record_failure(kind, person, client)
    return errors.TwoFactorRefused()
