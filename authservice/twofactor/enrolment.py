"""The second factor of a signed-in user: set up, confirm, read the status, disable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from django.db import transaction
from django.utils import timezone

from authservice.core.credentials import attempt_counter, passwords
from authservice.core.models import Session
from authservice.core.recovery import recent_proof
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import databases, errors, events
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.kernel.sections import service_name
from authservice.twofactor import authenticators, backup_codes, lockout, messages, totp
from authservice.twofactor.conf import conf
from authservice.twofactor.models import Authenticator

ENABLED = "second factor enabled"  # reason why the other sessions ended

T = TypeVar("T")


@dataclass(frozen=True)
class Enrolment:
    """Shown only once: the secret, the same as an otpauth URI, and the backup codes."""

    secret: Secret
    uri: Secret
    backup_codes: list[Secret]


@dataclass(frozen=True)
class Status:
    enabled: bool = False
    backup_codes_remaining: int = 0


def set_up(person: Person, session: Session, client: Client, *, password: Secret) -> Enrolment:
    """Create a new secret, in place of an unconfirmed one. Logins need no code until `confirm` has
    received the first one. `password` is the current password or "".

    Raises `InvalidToken`, `TwoFactorAlreadyEnabled`, and as `recent_proof.require_recent` does.
    """
    recent_proof.require_recent(person, session, password, client, method="2fa_setup")
    with sessions.changing(person, session) as present:
        return _renewed(present)


def set_up_to_log_in(person: Person) -> Enrolment:
    """The same for a user who cannot sign in without a second factor, and so has no session."""
    with transaction.atomic(using=databases.primary()):
        if not passwords.lock_users([person.user.pk]):
            raise errors.InvalidToken  # deleted concurrently
        return _renewed(person)


def _renewed(person: Person) -> Enrolment:
    """Call it in a transaction that has locked the user's row, so that the user cannot be deleted
    before the secret is written."""
    authenticators.begin(person)
    secret = totp.new_secret()
    # The UPDATE itself checks that the factor is not enabled: a factor that a concurrent request
    # enabled stays.
    pending = authenticators.renew(person, secret)
    if pending is None:
        raise errors.TwoFactorAlreadyEnabled
    codes = backup_codes.replace(pending)
    account = person.email or person.username or person.id
    return Enrolment(secret, totp.uri(secret, issuer=issuer(), account=account), codes)


def issuer() -> str:
    """The name of the service in apps. A colon separates issuer and account in the URI, so it is
    replaced."""
    name = conf.issuer or service_name() or "authservice"
    return name.replace(":", " ")


def confirm(person: Person, session: Session, code: Secret, client: Client) -> None:
    """Enable the factor that was set up, with its first code; every other session ends.

    Raises `TwoFactorNotEnabled` if nothing was set up, `TwoFactorAlreadyEnabled`,
    `TooManyAttempts`, `TwoFactorInvalid` and `InvalidToken`.
    """
    pending = pending_of(authenticators.of(person))
    counter = lockout.consume(lockout.TOTP, person, pending, client)
    with sessions.changing(person, session) as present:
        if enable(pending, code, present, client, within=session):
            attempt_counter.refund(counter)
            return
    lockout.record_failure(lockout.TOTP, person, client)
    raise errors.TwoFactorInvalid


def pending_of(found: Authenticator | None) -> Authenticator:
    """Raises `TwoFactorNotEnabled` or `TwoFactorAlreadyEnabled`."""
    if found is None:
        raise errors.TwoFactorNotEnabled
    if found.confirmed:
        raise errors.TwoFactorAlreadyEnabled
    return found


def enable(
    pending: Authenticator,
    code: Secret,
    person: Person,
    client: Client,
    *,
    within: Session | None = None,
) -> bool:
    """Enable the factor if the code is right; returns whether this call did. `within` is the
    session of the user, if there is one.

    Every other session ends, also one that begins at the same moment without a code: its login read
    the account before this change. Call it in a transaction that has locked the user's row.
    """
    began = timezone.now()
    step = authenticators.step_of(pending, code)
    if step is None or not authenticators.enable(pending, step, within=within):
        return False
    sessions.end_without_factor(person, within, ENABLED)
    events.record("auth.2fa.enabled", person, client)
    messages.notify(messages.ENABLED, person, client, since=began)
    return True


def disable(person: Person, session: Session, code: Secret, client: Client) -> None:
    """Disable the second factor. Raises as `_with_code` does."""

    def remove(authenticator: Authenticator) -> None:
        authenticator.delete(using=databases.primary())
        events.record("auth.2fa.disabled", person, client)
        messages.notify(messages.DISABLED, person, client)

    _with_code(person, session, code, client, remove)


def renew_backup_codes(
    person: Person, session: Session, code: Secret, client: Client
) -> list[Secret]:
    """A new set of codes; the old ones are deleted. Raises as `_with_code` does."""

    def renew(authenticator: Authenticator) -> list[Secret]:
        events.record("auth.2fa.backup_regenerated", person, client)
        messages.notify(messages.CODES_RENEWED, person, client)
        return backup_codes.replace(authenticator)

    return _with_code(person, session, code, client, renew)


def status(person: Person) -> Status:
    found = authenticators.of(person)
    if found is None or not found.confirmed:
        return Status()
    return Status(enabled=True, backup_codes_remaining=backup_codes.remaining(found))


def _with_code(
    person: Person,
    session: Session,
    code: Secret,
    client: Client,
    then: Callable[[Authenticator], T],
) -> T:
    """The result of `then` for an enabled authenticator, in the transaction that uses the code.

    Raises `TwoFactorNotEnabled`, `TooManyAttempts`, `TwoFactorInvalid`, `InvalidToken`.
    """
    found = authenticators.of(person)
    if found is None or not found.confirmed:
        raise errors.TwoFactorNotEnabled
    counter = lockout.consume(lockout.TOTP, person, found, client)
    step = authenticators.step_of(found, code)
    with sessions.changing(person, session):
        if step is not None and authenticators.use(found, step):
            attempt_counter.refund(counter)
            return then(found)
    lockout.record_failure(lockout.TOTP, person, client)
    raise errors.TwoFactorInvalid
