"""A recent proof: the current password in the request, or a session that began recently.

A stolen access token alone must not be enough to change how the owner recovers the account, nor to
change its address or to delete it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from authservice.core.conf import core
from authservice.core.credentials import attempt_counter, lockout, passwords
from authservice.core.errors import (
    InvalidCredentials,
    StepUpRequired,
    TwoFactorRefused,
    step_up_required,
)
from authservice.core.models import Session
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, errors, events
from authservice.kernel.client import Client
from authservice.kernel.interfaces import SecondFactor
from authservice.kernel.languages import phrase
from authservice.kernel.levels import Record
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret

RECENT = timedelta(minutes=10)
# What `require_owner` raises.
FAULTS = (
    InvalidCredentials,
    errors.ReauthenticationRequired,
    errors.ServiceUnavailable,
    errors.TooManyAttempts,
    StepUpRequired,
    TwoFactorRefused,
)


@dataclass(frozen=True)
class Proof:
    """What a request contains to show that the owner sent it: the current password, and the current
    code if a second factor is enabled. Either may be empty."""

    password: Secret
    code: Secret


@databases.outside_transactions
def check_password(person: Person, password: Secret, client: Client, *, method: str) -> None:
    """Check the current password; the attempt is counted first. `method` names the route in the
    audit log.

    Raises `TooManyAttempts`, `InvalidCredentials`, or `ServiceUnavailable` if too many passwords
    are being hashed.
    """
    attempt = lockout.by_password_change(person)
    action = "security.account.throttled"
    report = partial(events.record, action, person, client, reason="throttled", method=method)
    with passwords.hash_turn(attempt):
        attempt_counter.consume(attempt, attempt_counter.PASSWORD, report=report)
        with lockout.refund_unless_checked(partial(attempt_counter.refund, attempt)):
            name = "email" if person.email else "username"
            typed = person.email or str(person.user.get_username())
            accepted = passwords.check(person, name, typed, password, client)
        # A backend of the project may accept another user by this name.
        if accepted is None or accepted.user.pk != person.user.pk:
            raise InvalidCredentials
        # A backend of the project may have upgraded the hash of a row that it read itself.
        person.user.password = accepted.user.password
        attempt_counter.refund(attempt)
        passwords.tell_waiting_validators(accepted, password)


def require_recent(
    person: Person, session: Session, password: Secret, client: Client, *, method: str
) -> None:
    """Check the password if the client sent one, and record a wrong one. Without a password the
    session must be recent if `CORE.REQUIRE_RECENT_PROOF` is set.

    Raises the errors of `check_password`, and `ReauthenticationRequired`.
    """
    if password:
        with _recorded(person, client, method):
            check_password(person, password, client, method=method)
    elif core.require_recent_proof and not is_recent(session):
        raise errors.ReauthenticationRequired


@databases.outside_transactions
def require_owner(
    person: Person, session: Session, proof: Proof, client: Client, *, method: str
) -> None:
    """Require the current password and, if a second factor is enabled, its code; or a step-up if
    the only second factor is a passkey. Users without a usable password must have logged in
    recently instead.

    Raises the errors of `check_password`, `TwoFactorRefused`, `StepUpRequired` and
    `ReauthenticationRequired`.
    """
    if not proof.password:
        if person.user.has_usable_password() or not is_recent(session):
            raise errors.ReauthenticationRequired
        return
    factors = {factor.method: factor for factor in plugs(SecondFactor) if factor.is_enabled(person)}
    by_code = factors.get(SecondFactor.method)
    if by_code is not None and not proof.code:
        raise TwoFactorRefused(phrase("The current code of the second factor is required."))
    if factors and by_code is None:
        # A passkey is verified by a step-up, which takes two requests.
        record = Record(session.levels)
        if not record.proves("aal2", now=clock.utc(), within=RECENT):
            raise step_up_required("aal2", RECENT)
    with _recorded(person, client, method):
        check_password(person, proof.password, client, method=method)
        if by_code is not None:
            by_code.verify(person, proof.code, client)


@databases.inside_transaction
def require_unchanged(checked: Person, present: Person) -> None:
    """Raises `InvalidCredentials` if the password changed after `require_owner`. The caller
    holds the lock of the user."""
    if present.password != checked.user.password:
        raise InvalidCredentials


@contextmanager
def _recorded(person: Person, client: Client, method: str) -> Iterator[None]:
    try:
        yield
    except (InvalidCredentials, TwoFactorRefused):
        # An attacker with a stolen session may try passwords here: the owner must see the failure.
        events.record("auth.reauthentication.failed", person, client, method=method)
        raise


def is_recent(session: Session) -> bool:
    """Whether the user proved a level in this session at most 10 minutes ago. A refresh does not
    count, nor does a token of another package that was traded for this session."""
    return Record(session.levels).proves("aal1", now=clock.utc(), within=RECENT)
