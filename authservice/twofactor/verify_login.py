"""A login with a second factor: the challenge after the first proof, and its exchange for tokens.

Fills the slot `second_factor`. A challenge is a temp_token, which is a one-time token: its row
stores the user, the proofs so far and the way to sign in, so that the login continues where it
stopped. It is valid for its own purpose only and is not an access token, so it gives access to
nothing else.

Each attempt is counted twice before the code is checked: for the temp_token (at most five), and for
the account over all temp_tokens. The code and the temp_token are used in the transaction of the
login.

A remembered device needs no code: a known device, identified by the signed device token of each
login, on which the user entered a code and chose to remember the device. Off unless `REMEMBER_TTL`
is set. A device is no longer remembered once the authenticator is removed, the password changes or
the device token is revoked. An attacker with the device token still needs the password.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.db.models import Q

from authservice.core import errors
from authservice.core.credentials import known_devices, lockout, one_time, passwords
from authservice.core.credentials.lockout import CountedAttempt
from authservice.core.credentials.one_time import Purpose
from authservice.core.login import login
from authservice.core.login.login import Login
from authservice.core.models import OneTimeToken
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events, transactions
from authservice.kernel.client import Client
from authservice.kernel.errors import InvalidToken
from authservice.kernel.interfaces import MFA, Arrival, Challenge, SecondFactor
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.twofactor import authenticators, codes, enrolment
from authservice.twofactor.codes import Kind
from authservice.twofactor.conf import conf
from authservice.twofactor.enrolment import Enrolment
from authservice.twofactor.models import Authenticator, RememberedDevice

_CONFIRMED = "authservice_authenticator__confirmed"
# `addressed=False`: temp_tokens are part of a response, not sent to an address.
GIVE_CODE = Purpose("2fa", link_ttl=timedelta(minutes=5), addressed=False)
# Longer, since the user may have to install an app first; there is no code to attack yet.
SET_UP = Purpose("2fa_setup", link_ttl=timedelta(minutes=15), addressed=False)
_TEXTS = {
    GIVE_CODE.name: phrase("Enter a code of your authenticator app, or a backup code."),
    SET_UP.name: phrase("A second factor is required: set up an authenticator app to continue."),
}
_PROOFS = ("otp", MFA)


class AuthenticatorApp(SecondFactor):
    """An authenticator app with its backup codes."""

    def columns(self) -> tuple[str, ...]:
        return (_CONFIRMED,)

    def ask(self, arrival: Arrival) -> Challenge | None:
        if MFA in arrival.proofs:
            return None
        found = None if _has_no_factor(arrival) else authenticators.of(arrival.person)
        if found and found.confirmed:
            # The admin routes require a code, so a remembered device does not replace it there.
            always = arrival.person.is_super_admin and self.is_required(arrival.person)
            if not always and is_remembered(found, arrival.person, arrival.client):
                return None
            return issue_challenge(GIVE_CODE, arrival)
        if self.is_required(arrival.person):
            return issue_challenge(SET_UP, arrival)
        return None

    def is_enabled(self, person: Person) -> bool:
        return _enabled(person) is not None

    def is_required(self, person: Person) -> bool:
        if conf.required == "super_admins":
            return person.is_super_admin
        return conf.required == "everybody"

    def verify(self, person: Person, code: Secret, client: Client) -> None:
        """Verify a code by the rules and attempt limits of the API. A remembered device does not
        replace the code."""
        found = _enabled(person)
        if found is None:
            raise errors.TwoFactorRefused
        network = lockout.network_of(person, client)
        lockout.count_throttle(network)
        kind = codes.kind_of(code)
        attempt = CountedAttempt(codes.count_attempt(kind, person, found, client), network=network)
        if not _consumed(kind, found, code, person, client, attempt):
            codes.record_failure(kind, person, client)
            raise errors.TwoFactorRefused

    def revoke(self, person: Person, since: datetime | None) -> bool:
        """At the first proof of an address every factor goes: it was set up by someone who had not
        proven that the address is theirs, possibly an attacker (account pre-hijacking). Otherwise a
        factor that was enabled before `since` stays."""
        rows = authenticators.rows().filter(user=person.user.pk)
        if since is not None:
            rows = rows.filter(Q(confirmed=False) | Q(enabled_at__gte=since))
        found = list(rows)
        for row in found:
            row.delete(using=databases.primary())
        if any(row.confirmed for row in found):
            reason = "unproven" if since is None else "recovery"
            events.record_by_staff("auth.2fa.disabled", None, person.user, Client(), reason=reason)
        return bool(found)


second_factor = AuthenticatorApp()


def _has_no_factor(arrival: Arrival) -> bool:
    """Whether it is known without a query that the user has no second factor.

    A factor that is enabled after the user was read, such as while the password is checked, raises
    `factor_version`. The session of this login stores the version that was read in the same
    statement, and is therefore not valid.
    """
    if arrival.method == login.SIGNUP:
        return True
    return not arrival.person.gate_values.get(_CONFIRMED, True)


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
    refund = partial(_refund_failed, attempt)
    with lockout.refund_unless_checked(refund), transaction.atomic(using=databases.primary()):
        if not codes.consume(kind, found, code):
            return False
        codes.record_verified(kind, person, client)
        refund()
        return True


def _refund_failed(attempt: CountedAttempt) -> None:
    attempt.refund()
    attempt.refund_throttle()


def issue_challenge(purpose: Purpose, arrival: Arrival) -> Challenge:
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


def find_challenge(
    purpose: Purpose, temp_token: Secret
) -> tuple[Person, OneTimeToken, Authenticator | None]:
    """The user, the one-time token and the user's authenticator, read in one statement.

    Raises `InvalidToken`.
    """
    try:
        person, token, row = one_time.find_open(purpose, temp_token, *authenticators.FROM_TOKEN)
    except errors.InvalidLink as wrong:
        raise InvalidToken from wrong
    return person, token, authenticators.read(row)


def owner_of_challenge(temp_token: Secret) -> Person | None:
    """The user of a temp_token, even if it is used or expired."""
    return one_time.owner_of(temp_token, GIVE_CODE, SET_UP)


def count_on_token(token: OneTimeToken) -> None:
    """Raises `TooManyAttempts`, or `InvalidToken` if a concurrent request used the token."""
    try:
        one_time.count_challenge_attempt(token)
    except errors.InvalidLink as wrong:
        raise InvalidToken from wrong


def verify_login(
    temp_token: Secret, code: Secret, client: Client, *, remember: bool = False
) -> Login:
    """Log in with a code of the app or a backup code.

    For a user who must set up a second factor, this is the first code of the new factor. Raises
    `InvalidToken`, `TwoFactorRefused`, `TooManyAttempts`, `TwoFactorNotEnabled` if nothing was set
    up yet, or an error of `login.enter`.
    """
    try:
        return _verify(temp_token, code, client, remember)
    except InvalidToken:
        _record_refusal(temp_token, client)
        raise


def _record_refusal(temp_token: Secret, client: Client) -> None:
    """Record the failure, unless the token is unknown: attackers must not fill the log."""
    owner = owner_of_challenge(temp_token)
    lockout.count_throttle(lockout.network_of(owner, client))
    if owner is not None:
        events.record("auth.2fa.failed", owner, client, reason="invalid_token")


def _verify(temp_token: Secret, code: Secret, client: Client, remember: bool) -> Login:
    try:
        person, token, found = find_challenge(GIVE_CODE, temp_token)
    except InvalidToken:
        return _enrol(temp_token, code, client)
    if found is None or not found.confirmed:
        raise InvalidToken  # the factor was disabled after the challenge was issued
    kind = codes.kind_of(code)
    attempt = _count_attempt(kind, person, token, found, client)

    def is_right(present: Person) -> bool:
        if not codes.consume(kind, found, code):
            return False
        codes.record_verified(kind, present, client)
        return True

    def then(outcome: Login) -> None:
        if remember:
            remember_device(found, outcome.person, outcome.device_token)

    outcome = _enter(person, token, client, attempt, is_right, then)
    if outcome is None:
        raise _failed(kind, person, client)
    return outcome


def set_up(temp_token: Secret, client: Client) -> Enrolment:
    """Set up a second factor for a user who cannot log in without one.

    Raises `InvalidToken`, `TwoFactorAlreadyEnabled`.
    """
    try:
        person, _, _ = find_challenge(SET_UP, temp_token)
    except InvalidToken:
        _record_refusal(temp_token, client)
        raise
    return enrolment.set_up_to_log_in(person)


def _enrol(temp_token: Secret, code: Secret, client: Client) -> Login:
    person, token, found = find_challenge(SET_UP, temp_token)
    if found is not None and found.confirmed:
        # The user enabled a factor in the meantime: the password alone must not bypass it.
        raise InvalidToken
    pending = enrolment.pending_of(found)
    attempt = _count_attempt(codes.TOTP, person, token, pending, client)

    def is_right(present: Person) -> bool:
        return enrolment.enable(pending, code, present, client)

    outcome = _enter(person, token, client, attempt, is_right)
    if outcome is None:
        raise _failed(codes.TOTP, person, client)
    return outcome


@transactions.outside
def _count_attempt(
    kind: Kind, person: Person, token: OneTimeToken, authenticator: Authenticator, client: Client
) -> CountedAttempt:
    """Check that the user may sign in, and count an attempt."""
    login.check_may_log_in(person, client, method=token.payload["method"])
    lockout.count_throttle(lockout.network_of(person, client))
    # The temp_token first: one without attempts left uses up no attempt of the account.
    count_on_token(token)
    key = codes.count_attempt(kind, person, authenticator, client)
    return CountedAttempt(key, network=lockout.network_of(person, client))


def _refund(token: OneTimeToken, attempt: CountedAttempt) -> None:
    one_time.refund_challenge_attempt(token)
    attempt.refund()
    attempt.refund_throttle()


def _enter(
    person: Person,
    token: OneTimeToken,
    client: Client,
    attempt: CountedAttempt,
    is_right: Callable[[Person], bool],
    then: Callable[[Login], None] | None = None,
) -> Login | None:
    """Log in with a code that `is_right` checks and uses up; None if it is wrong."""

    def checked(present: Person) -> Person | None:
        if not is_right(present):
            return None
        # The fingerprint refuses a login that began with a password since replaced.
        if not one_time.consume(token, password_fingerprint=token.password_fingerprint):
            raise InvalidToken  # a concurrent request used it; this one is rolled back
        attempt.refund_throttle()
        return present

    with lockout.refund_unless_checked(partial(_refund, token, attempt)):
        outcome = login.enter(
            person,
            client,
            method=token.payload["method"],
            proofs=(*token.payload["proofs"], *_PROOFS),
            attempt=attempt,
            change=checked,
            then=then,
        )
    return outcome if outcome.tokens or outcome.challenges else None


def _failed(kind: Kind, person: Person, client: Client) -> errors.TwoFactorRefused:
    codes.record_failure(kind, person, client)
    return errors.TwoFactorRefused()


def remember_device(authenticator: Authenticator, person: Person, device_token: Secret) -> None:
    """Remember a device from now on, if `REMEMBER_TTL` is set."""
    device = known_devices.known(device_token, person)
    if not conf.remember_ttl or device is None:
        return
    fingerprint = passwords.fingerprint(person.password)
    until = clock.now() + conf.remember_ttl
    RememberedDevice.objects.update_or_create(
        authenticator_id=authenticator.pk,
        device_id=device,
        defaults={"password_fingerprint": fingerprint, "expires_at": until},
    )


def is_remembered(authenticator: Authenticator, person: Person, client: Client) -> bool:
    """Whether the client's device is remembered."""
    device = known_devices.known(client.device_token, person) if conf.remember_ttl else None
    if device is None:
        return False
    fresh = RememberedDevice.objects.filter(
        authenticator=authenticator.pk, device_id=device, expires_at__gt=clock.now()
    )
    stored = fresh.values_list("password_fingerprint", flat=True)
    return any(passwords.matches_fingerprint(one, person.password) for one in stored)
