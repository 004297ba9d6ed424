"""A login with a second factor: the challenge after the first proof, and its exchange for tokens.

Fills the slot `second_factor`. A challenge is a temp_token, which is a one-time token: its row
stores the user, the proofs so far and the way to sign in, so that the login continues where it
stopped. It is valid for its own purpose only and is not an access token, so it gives access to
nothing else.

Each attempt is counted twice before the code is checked: for the temp_token (at most five), and for
the account over all temp_tokens. The code and the temp_token are used in the transaction of the
login.

A remembered device needs no code: a known device, identified by the signed device token of each
login, on which the user entered a code and chose to remember the device. This is off unless
`REMEMBER_TTL` is set. A device is no longer remembered once the authenticator is removed, the
password changes or the device token is revoked. An attacker with the device token still needs the
password.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q

from authservice.core import errors
from authservice.core.credentials import lockout, one_time, passwords
from authservice.core.credentials.lockout import CountedAttempt
from authservice.core.credentials.one_time import Purpose
from authservice.core.login import login
from authservice.core.login.login import Login
from authservice.core.messages import security_notice
from authservice.core.models import OneTimeToken
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events
from authservice.kernel.client import Client, DeviceToken
from authservice.kernel.errors import Fault, InvalidToken
from authservice.kernel.interfaces import (
    AccountAccess,
    Along,
    Arrival,
    Challenge,
    Reach,
    SecondFactor,
)
from authservice.kernel.languages import phrase
from authservice.kernel.levels import CODE, MFA
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret
from authservice.kernel.sql import Bound, changed_together
from authservice.twofactor import authenticators, enrolment
from authservice.twofactor.authenticators import Kind
from authservice.twofactor.conf import conf
from authservice.twofactor.enrolment import Enrolment
from authservice.twofactor.models import Authenticator, BackupCode, RememberedDevice

_CONFIRMED = "authservice_authenticator__confirmed"
# `addressed=False`: temp_tokens are part of a response, not sent to an address.
GIVE_CODE = Purpose("2fa", link_ttl=timedelta(minutes=5), addressed=False)
# This is longer, since the user may have to install an app first; there is no code to attack yet.
SET_UP = Purpose("2fa_setup", link_ttl=timedelta(minutes=15), addressed=False)
_TEXTS = {
    GIVE_CODE.name: phrase("Enter a code of your authenticator app, or a backup code."),
    SET_UP.name: phrase("A second factor is required: set up an authenticator app to continue."),
}
_WITH_KEY = phrase("Use your passkey or security key.")
_PROOFS = (CODE, MFA)
PASSKEY = "passkey"


class AuthenticatorApp(SecondFactor):
    """An authenticator app with its backup codes."""

    def columns(self) -> tuple[str, ...]:
        return (_CONFIRMED,)

    def ask(self, arrival: Arrival) -> Challenge | None:
        if MFA in arrival.proofs:
            return None
        person = arrival.person
        required = self.is_required(arrival.person)
        # The columns that were read with the user mostly say that the user has no factor, so that
        # no query is needed. A factor that is enabled after the user was read, such as while the
        # password is checked, increases `factor_version`. The session of this login stores the
        # version that was read in the same statement as the columns, and is therefore not valid.
        authenticator = None
        if arrival.method != login.SIGNUP and person.gate_values.get(_CONFIRMED, True):
            authenticator = authenticators.of(person)
        if authenticator and authenticator.confirmed:
            # The admin routes require a code of super admins, and Django admin of all staff, which
            # a remembered device does not replace.
            needs_code = required and (person.is_super_admin or conf.required == "staff")
            if not needs_code and is_remembered(authenticator, person, arrival.client):
                return None
            return issue_challenge(GIVE_CODE, arrival, (self, *_other_factors(person)))
        # Somebody who has just signed up has no factor yet.
        other_factors = (
            () if arrival.method == login.SIGNUP else _other_factors(person, required=required)
        )
        if other_factors:
            return issue_challenge(GIVE_CODE, arrival, other_factors)
        return issue_challenge(SET_UP, arrival, ()) if required else None

    def is_enabled(self, person: Person) -> bool:
        return _enabled(person) is not None

    def reaches(self, person: Person) -> Reach | None:
        authenticator = _enabled(person)
        return Reach(self.level, authenticator.enabled_at) if authenticator else None

    def is_required(self, person: Person) -> bool:
        if conf.required == "super_admins":
            return person.is_super_admin
        if conf.required == "staff":
            return person.is_super_admin or person.is_staff
        return conf.required == "everybody"

    def verify(
        self,
        person: Person,
        code: Secret,
        client: Client,
        along: Along | None = None,
    ) -> None:
        """Verify a code by the rules and attempt limits of the API. A remembered device does not
        replace the code."""
        authenticator = _enabled(person)
        if authenticator is None:
            raise errors.TwoFactorRefused
        network = lockout.count_network(person, client)
        kind = authenticators.kind_of(code)
        attempt = CountedAttempt(
            authenticators.count_attempt(kind, person, authenticator, client), network=network
        )
        use = authenticators.use_code_statement(kind, authenticator, code)
        record = partial(authenticators.record_verified, kind, person, client)
        if use is None or not _use(use, attempt, along, record):
            authenticators.record_failure(kind, person, client)
            raise errors.TwoFactorRefused

    def revoke(self, person: Person, since: datetime | None) -> bool:
        """At the first proof of an address, where `since` is None, every factor is removed: it was
        set up by someone who had not proven that the address is theirs, possibly an attacker
        (account pre-hijacking). Otherwise a factor that was enabled before `since` stays, but not
        backup codes that were renewed since."""
        rows = Authenticator.objects.filter(user=person.user.pk)
        if since is not None:
            if security_notice.was_notified(person, enrolment.MAIL_CODES_RENEWED, since):
                BackupCode.objects.filter(authenticator__in=rows.values("pk")).delete()
            rows = rows.filter(Q(confirmed=False) | Q(enabled_at__gte=since))
        removed = list(rows)
        for row in removed:
            row.delete(using=databases.primary())
        if any(row.confirmed for row in removed):
            reason = "unproven" if since is None else "recovery"
            events.record_by_staff("auth.2fa.disabled", None, person.user, Client(), reason=reason)
        return bool(removed)


second_factor = AuthenticatorApp()


def _other_factors(person: Person, *, required: bool = False) -> tuple[SecondFactor, ...]:
    """The factors of other modules that can answer a challenge of this user. With `required`, also
    factors that the user has and that are not asked for otherwise: they satisfy the requirement
    too."""
    other_factors = [factor for factor in plugs(SecondFactor) if factor is not second_factor]
    return tuple(
        factor
        for factor in other_factors
        if factor.is_enabled(person) or (required and factor.reaches(person) is not None)
    )


def _enabled(person: Person) -> Authenticator | None:
    authenticator = authenticators.of(person)
    return authenticator if authenticator and authenticator.confirmed else None


def _use(
    use: Bound, attempt: CountedAttempt, along: Along | None, record: Callable[[], None]
) -> bool:
    """Use a right code up, refund its attempt and make the change of `along`, in one transaction.
    False if the code was used already; then nothing changes."""
    updates = [use, attempt.refund_statement(), *([along.update] if along else ())]
    refund = partial(_refund, attempt)
    with lockout.refund_unless_checked(refund), transaction.atomic(using=databases.primary()):
        used, _, *other_changes = changed_together(*updates)
        if not used:
            transaction.set_rollback(True, using=databases.primary())
            return False
        if not all(other_changes):
            raise InvalidToken
        record()
        attempt.refund_throttle()
        if along:
            along.then()
        return True


def _refund(attempt: CountedAttempt, token: OneTimeToken | None = None) -> None:
    """Refund an attempt whose code was not checked, and with `token` also the attempt that was
    counted for the temp_token."""
    if token is not None:
        one_time.refund_challenge_attempt(token)
    attempt.refund()
    attempt.refund_throttle()


def issue_challenge(
    purpose: Purpose, arrival: Arrival, factors: Sequence[SecondFactor]
) -> Challenge:
    """A challenge of the purpose's type, which any one of the factors can answer. The login method
    and the proofs of the arrival are stored with the one-time token of the challenge."""
    person: Person = arrival.person
    login_payload: dict[str, Any] = {"method": arrival.method, "proofs": list(arrival.proofs)}
    login_payload |= {"pending": dict(arrival.pending)} if arrival.pending else {}
    temp_token = one_time.issue_link(purpose, person, payload=login_payload)
    methods = [factor.method for factor in factors]
    text = _WITH_KEY if methods == [PASSKEY] else _TEXTS[purpose.name]
    content: dict[str, Any] = {"requires_2fa": True, "temp_token": temp_token}
    content |= {"user_id": person.id, "message": text}
    if methods not in ([], [SecondFactor.method]):
        # Without other factors the key is missing, as clients that know only codes expect.
        content["methods"] = methods
    for factor in factors:
        content |= factor.options(person, temp_token)
    return Challenge(purpose.name, content)


def find_challenge(
    purpose: Purpose, temp_token: Secret
) -> tuple[Person, OneTimeToken, Authenticator | None]:
    """The user, the one-time token and the user's authenticator, read in one statement.

    Raises `InvalidToken`.
    """
    try:
        person, token, row = one_time.find_open(purpose, temp_token, *authenticators.FROM_TOKEN)
    except errors.InvalidLink as error:
        raise InvalidToken from error
    return person, token, authenticators.read(row, token._state.db)


def owner_of_challenge(temp_token: Secret) -> Person | None:
    """The user of a temp_token, even if it is used or expired."""
    return one_time.owner_of(temp_token, GIVE_CODE, SET_UP)


def count_on_token(token: OneTimeToken) -> None:
    """Count an attempt at the temp_token. Raises `TooManyAttempts`, or `InvalidToken` if a
    concurrent request used the token."""
    try:
        one_time.count_challenge_attempt(token)
    except errors.InvalidLink as error:
        raise InvalidToken from error


def verify_login(
    temp_token: Secret,
    code: Secret,
    client: Client,
    *,
    credential: Mapping[str, Any] | None = None,
    remember: bool = False,
) -> Login:
    """Log in with a code of the app or a backup code, or with the `credential` of a passkey.

    For a user who must set up a second factor, this is the first code of the new factor. Raises
    `InvalidToken`, `TwoFactorRefused`, `TooManyAttempts`, `TwoFactorNotEnabled` if nothing was set
    up yet, an error of `login.enter`, or one of `AccountAccess.faults`.
    """
    try:
        if credential:
            return _verify_key(temp_token, credential, client)
        return _verify(temp_token, code, client, remember)
    except InvalidToken:
        _record_refusal(temp_token, client)
        raise


def _record_refusal(temp_token: Secret, client: Client) -> None:
    """Record the failure, unless the token is unknown: attackers must not fill the log."""
    owner = owner_of_challenge(temp_token)
    lockout.count_network(owner, client)
    if owner is not None:
        events.record("auth.2fa.failed", owner, client, reason="invalid_token")


def _verify(temp_token: Secret, code: Secret, client: Client, remember: bool) -> Login:
    try:
        person, token, authenticator = find_challenge(GIVE_CODE, temp_token)
    except InvalidToken:
        # The temp_token may be that of a required set-up; `_enrol` raises the same error if not.
        return _enrol(temp_token, code, client)
    if authenticator is None or not authenticator.confirmed:
        raise InvalidToken  # the factor was disabled after the challenge was issued
    kind = authenticators.kind_of(code)
    attempt = _count_attempt(kind, person, token, authenticator, client)

    def is_right(present: Person) -> bool:
        if not authenticators.consume_code(kind, authenticator, code):
            return False
        authenticators.record_verified(kind, present, client)
        return True

    def then(outcome: Login) -> None:
        remember_device(authenticator, outcome.person, outcome.device_token)

    outcome = _enter(person, token, client, attempt, is_right, then if remember else None)
    if outcome is None:
        raise _failed(kind, person, client)
    return outcome


def _verify_key(temp_token: Secret, credential: Mapping[str, Any], client: Client) -> Login:
    person, token, _ = find_challenge(GIVE_CODE, temp_token)
    factor = next((plug for plug in plugs(SecondFactor) if plug.method == PASSKEY), None)
    if factor is None:
        raise InvalidToken
    login.check_may_log_in(person, client, method=token.payload["method"])
    network = lockout.count_network(person, client)
    count_on_token(token)
    try:
        evidence = factor.examine(person, credential, temp_token, client)
    except Fault:
        events.record("auth.2fa.failed", person, client, reason="invalid_code", method=PASSKEY)
        raise

    def checked(present: Person) -> Person:
        if not evidence.use():
            raise InvalidToken
        if not one_time.consume(token, password_fingerprint=token.password_fingerprint):
            raise InvalidToken  # a concurrent request used it; this one is rolled back
        events.record("auth.2fa.verified", present, client, method=PASSKEY)
        lockout.refund_throttle(network)
        return present

    def refund() -> None:
        one_time.refund_challenge_attempt(token)
        lockout.refund_throttle(network)

    pending = token.payload.get("pending")
    with lockout.refund_unless_checked(refund):
        return login.enter(
            person,
            client,
            method=token.payload["method"],
            proofs=tuple(dict.fromkeys((*token.payload["proofs"], *evidence.proofs, MFA))),
            change=checked,
            complete=partial(_complete, pending, token, client) if pending else None,
            pending=pending,
        )


def set_up(temp_token: Secret, client: Client) -> Enrolment:
    """Set up a second factor for a user who cannot log in without one.

    Raises `InvalidToken`, `TwoFactorAlreadyEnabled`.
    """
    try:
        person, _, _ = find_challenge(SET_UP, temp_token)
        _require_no_other(person)
    except InvalidToken:
        _record_refusal(temp_token, client)
        raise
    return enrolment.set_up_to_log_in(person)


def _enrol(temp_token: Secret, code: Secret, client: Client) -> Login:
    person, token, authenticator = find_challenge(SET_UP, temp_token)
    if authenticator is not None and authenticator.confirmed:
        # The user enabled a factor in the meantime: the password alone must not bypass it.
        raise InvalidToken
    pending = enrolment.pending_of(authenticator)
    attempt = _count_attempt(authenticators.TOTP, person, token, pending, client)

    def is_right(present: Person) -> bool:
        _require_no_other(present)
        return enrolment.enable(pending, code, present, client)

    outcome = _enter(person, token, client, attempt, is_right)
    if outcome is None:
        raise _failed(authenticators.TOTP, person, client)
    return outcome


def _require_no_other(person: Person) -> None:
    """Raises `InvalidToken` if the user has a factor of another module, which was enabled since the
    challenge was issued: the password alone must not bypass it."""
    if _other_factors(person, required=True):
        raise InvalidToken


@databases.outside_transactions
def _count_attempt(
    kind: Kind, person: Person, token: OneTimeToken, authenticator: Authenticator, client: Client
) -> CountedAttempt:
    """Check that the user may sign in, and count an attempt."""
    login.check_may_log_in(person, client, method=token.payload["method"])
    network = lockout.count_network(person, client)
    # First on the temp_token: if it has no attempts left, no attempt of the account is used up.
    count_on_token(token)
    key = authenticators.count_attempt(kind, person, authenticator, client)
    return CountedAttempt(key, network=network)


def _enter(
    person: Person,
    token: OneTimeToken,
    client: Client,
    attempt: CountedAttempt,
    is_right: Callable[[Person], bool],
    then: Callable[[Login], None] | None = None,
) -> Login | None:
    """Log in with a code that `is_right` checks and uses up; None if the code is wrong."""

    def checked(present: Person) -> Person | None:
        if not is_right(present):
            return None
        # The fingerprint refuses a login that began with a password that was replaced since.
        if not one_time.consume(token, password_fingerprint=token.password_fingerprint):
            raise InvalidToken  # a concurrent request used it; this one is rolled back
        attempt.refund_throttle()
        return present

    pending = token.payload.get("pending")
    with lockout.refund_unless_checked(partial(_refund, attempt, token)):
        outcome = login.enter(
            person,
            client,
            method=token.payload["method"],
            proofs=(*token.payload["proofs"], *_PROOFS),
            attempt=attempt,
            change=checked,
            complete=partial(_complete, pending, token, client) if pending else None,
            then=then,
            pending=pending,
        )
    return outcome if outcome.tokens or outcome.challenges else None


def _complete(
    pending: Mapping[str, Any], token: OneTimeToken, client: Client, person: Person
) -> None:
    """Store what the login left pending at its challenge. Raises `NotCompleted`."""
    for access in plugs(AccountAccess):
        refusals: tuple[type[Fault], ...] = (InvalidToken, *access.faults)
        try:
            access.complete(person, client, pending)
        except refusals as fault:
            # The answer was right, so it must not count as a wrong one.
            give_back = partial(one_time.refund_challenge_attempt, token)
            raise login.NotCompleted(fault, give_back) from fault


def _failed(kind: Kind, person: Person, client: Client) -> errors.TwoFactorRefused:
    """Record a wrong code; returns the error to raise."""
    authenticators.record_failure(kind, person, client)
    return errors.TwoFactorRefused()


def remember_device(authenticator: Authenticator, person: Person, device_token: Secret) -> None:
    """Remember a device from now on, if `REMEMBER_TTL` is set."""
    device = lockout.find_device(DeviceToken.read(device_token), person)
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
    device = lockout.find_device(client.device, person) if conf.remember_ttl else None
    if device is None:
        return False
    devices = RememberedDevice.objects.filter(
        authenticator=authenticator.pk, device_id=device, expires_at__gt=clock.now()
    )
    fingerprints = devices.values_list("password_fingerprint", flat=True)
    return any(
        passwords.matches_fingerprint(fingerprint, person.password) for fingerprint in fingerprints
    )
