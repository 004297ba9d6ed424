"""The second factor of a user: set up, confirm, read the status, disable. Staff remove it without a
code, and the cleanup deletes set-ups that were never confirmed.

The owner is notified of each change: an attacker may have made it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from authservice.core.credentials import attempt_counter, passwords
from authservice.core.login import step_up
from authservice.core.login.step_up import Need
from authservice.core.messages import security_notice
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import Session
from authservice.core.recovery import recent_proof
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, errors, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.interfaces import SecondFactor
from authservice.kernel.levels import CODE, Record
from authservice.kernel.message_queue import Message
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret
from authservice.kernel.sections import service_name
from authservice.twofactor import authenticators
from authservice.twofactor.conf import conf
from authservice.twofactor.errors import (
    TwoFactorAlreadyEnabled,
    TwoFactorInvalid,
    TwoFactorNotEnabled,
)
from authservice.twofactor.models import Authenticator, BackupCode, RememberedDevice

MAIL_ENABLED = "two-factor-enabled"
MAIL_DISABLED = "two-factor-disabled"
MAIL_CODES_RENEWED = "backup-codes-renewed"
# Reasons why sessions end.
ENABLED = "second factor enabled"
REMOVED = "second factor disabled"
_SET_UPS_KEPT = timedelta(days=1)
T = TypeVar("T")


@dataclass(frozen=True)
class Enrolment:
    """What the user sees only once: the secret, the otpauth URI that contains it, and the backup
    codes."""

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

    Raises `InvalidToken`, `TwoFactorAlreadyEnabled`, and the errors of
    `recent_proof.require_recent` and `_require_other_factor`.
    """
    _require_other_factor(person, session)
    recent_proof.require_recent(person, session, password, client, method="2fa_setup")
    with sessions.changing(person, session) as present:
        return _renewed(present)


def _require_other_factor(person: Person, session: Session) -> None:
    """A user who has a factor of another module, such as a passkey, proves two factors first.
    Otherwise an intruder with a stolen session could add an app beside it, and would later need no
    more than the password. Raises `StepUpRequired` or `StepUpUnavailable`."""
    other_factors = [
        factor for factor in plugs(SecondFactor) if factor.method != SecondFactor.method
    ]
    if step_up.asks_for_factor(person, other_factors):
        step_up.require(person, Record(session.levels), Need("aal2"))


@clock.once
def set_up_to_log_in(person: Person) -> Enrolment:
    """Create a new secret, as `set_up` does, for a user who cannot sign in without a second factor
    and so has no session. Raises `InvalidToken`, `TwoFactorAlreadyEnabled`."""
    with transaction.atomic(using=databases.primary()):
        if not passwords.lock_users([person.user.pk]):
            raise errors.InvalidToken  # deleted concurrently
        return _renewed(person)


@databases.inside_transaction
def _renewed(person: Person) -> Enrolment:
    """Store a new secret and new backup codes. The caller holds the lock of the user's row, so that
    the user cannot be deleted before the secret is written."""
    authenticators.begin(person)
    secret = authenticators.new_secret()
    # The UPDATE itself checks that the factor is not enabled: a factor that a concurrent request
    # enabled stays.
    pending = authenticators.renew(person, secret)
    if pending is None:
        raise TwoFactorAlreadyEnabled
    backup_codes = authenticators.replace_backup_codes(pending)
    account = person.email or person.username or person.id
    uri = authenticators.uri(secret, issuer=issuer(), account=account)
    return Enrolment(secret, uri, backup_codes)


def issuer() -> str:
    """The name of the service in apps. A colon separates issuer and account in the URI, so it is
    replaced."""
    name = conf.issuer or service_name() or "authservice"
    return name.replace(":", " ")


def confirm(person: Person, session: Session, code: Secret, client: Client) -> None:
    """Enable the factor that was set up, with its first code; every other session ends.

    Raises `TwoFactorNotEnabled` if nothing was set up, `TwoFactorAlreadyEnabled`,
    `TooManyAttempts`, `TwoFactorInvalid`, `InvalidToken` and the errors of `_require_other_factor`.
    """
    _require_other_factor(person, session)
    pending = pending_of(authenticators.of(person))
    counter = authenticators.count_attempt(authenticators.TOTP, person, pending, client)
    with sessions.changing(person, session) as present:
        if enable(pending, code, present, client, within=session):
            attempt_counter.refund(counter)
            return
    authenticators.record_failure(authenticators.TOTP, person, client)
    raise TwoFactorInvalid


def pending_of(authenticator: Authenticator | None) -> Authenticator:
    """The authenticator that was set up and not confirmed. Raises `TwoFactorNotEnabled` or
    `TwoFactorAlreadyEnabled`."""
    if authenticator is None:
        raise TwoFactorNotEnabled
    if authenticator.confirmed:
        raise TwoFactorAlreadyEnabled
    return authenticator


@databases.inside_transaction
@clock.once
def enable(
    pending: Authenticator,
    code: Secret,
    person: Person,
    client: Client,
    *,
    within: Session | None = None,
) -> bool:
    """Enable the factor if the code is right; returns whether this call enabled it. `within` is the
    session of the user, if there is one.

    Every other session ends, also one that begins at the same moment without a code: its login read
    the account before this change. The caller holds the lock of the user's row.
    """
    began = clock.now()
    step = authenticators.step_of(pending, code)
    if step is None or not authenticators.enable(pending, step, within=within):
        return False
    sessions.end_without_factor(person, within, ENABLED)
    events.record("auth.2fa.enabled", person, client)
    notify(MAIL_ENABLED, person, client, since=began)
    return True


def disable(person: Person, session: Session, code: Secret, client: Client) -> None:
    """Disable the second factor. Raises the errors of `_with_code`."""

    def remove(authenticator: Authenticator) -> None:
        authenticator.delete(using=databases.primary())
        sessions.withdraw_proofs(person, CODE)
        events.record("auth.2fa.disabled", person, client)
        before = security_notice.state_of(person)
        remaining = _remaining(person)
        security_notice.notify(MAIL_DISABLED, person, client, before, remaining=remaining)

    _with_code(person, session, code, client, remove)


def renew_backup_codes(
    person: Person, session: Session, code: Secret, client: Client
) -> list[Secret]:
    """A new set of codes; the old ones are deleted. Raises the errors of `_with_code`."""

    def renew(authenticator: Authenticator) -> list[Secret]:
        events.record("auth.2fa.backup_regenerated", person, client)
        notify(MAIL_CODES_RENEWED, person, client)
        return authenticators.replace_backup_codes(authenticator)

    return _with_code(person, session, code, client, renew)


def status(person: Person) -> Status:
    authenticator = authenticators.of(person)
    if authenticator is None or not authenticator.confirmed:
        return Status()
    return Status(
        enabled=True, backup_codes_remaining=authenticators.remaining_backup_codes(authenticator)
    )


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
    authenticator = authenticators.of(person)
    if authenticator is None or not authenticator.confirmed:
        raise TwoFactorNotEnabled
    counter = authenticators.count_attempt(authenticators.TOTP, person, authenticator, client)
    use = authenticators.use_statement(authenticator, code)
    with sessions.changing(person, session):
        if use is not None and use.run():
            attempt_counter.refund(counter)
            return then(authenticator)
    authenticators.record_failure(authenticators.TOTP, person, client)
    raise TwoFactorInvalid


def remove(person: Person, *, by: Any = None, client: Client | None = None) -> bool:
    """Remove an enabled second factor and end all sessions of its user; False if there is none.

    `by` is the member of staff, or None for an operator in a shell.
    """
    using = databases.primary()
    with transaction.atomic(using=using):
        passwords.lock_users([person.user.pk])
        authenticator = Authenticator.objects.filter(user=person.user.pk).first()
        if authenticator is None or not authenticator.confirmed:
            return False
        authenticator.delete(using=using)
        sessions.end_all(person, REMOVED)
        events.record_by_staff("auth.2fa.disabled", by, person.user, client or Client())
        notify_of_staff(MAIL_DISABLED, person, client or Client(), remaining=_remaining(person))
    return True


def _remaining(person: Person) -> str:
    """What a login still asks for, for the mail about a removed app: another "factor" of the user,
    the "set-up" of a new one, or nothing ("")."""
    factors = plugs(SecondFactor)
    is_required = any(factor.is_required(person) for factor in factors)
    for factor in factors:
        if factor.is_enabled(person) or (is_required and factor.reaches(person) is not None):
            return "factor"
    return "set-up" if is_required else ""


def notify(kind: str, person: Person, client: Client, *, since: datetime | None = None) -> None:
    """Notify the owner of a change that the owner or an intruder made; `since` is when the change
    began."""
    before = security_notice.state_of(person, since=since)
    security_notice.notify(kind, person, client, before)


def notify_of_staff(kind: str, person: Person, client: Client, **shown: str) -> None:
    """Notify the owner, if the address is proven, of a change by staff, without the IP address,
    device or language of staff."""
    if not person.email_proven:
        return
    mail_client = Client(request_id=client.request_id)
    details = {"by": "staff", **shown}
    message_queue.send(kind, person.email, mail_client, using=databases.primary(), details=details)


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    return dict.fromkeys((MAIL_ENABLED, MAIL_DISABLED, MAIL_CODES_RENEWED), security_notice.compose)


def expired_rows() -> Mapping[str, QuerySet[Any]]:
    """Fills the slot `expired_rows`: set-ups not confirmed within a day, with their codes, and
    expired remembered devices."""
    now = clock.now()
    stale = {"confirmed": False, "set_up_at__lte": now - _SET_UPS_KEPT}
    set_ups = Authenticator.objects.filter(**stale)
    backup_codes = BackupCode.objects
    return {
        "backup codes of abandoned set-ups": backup_codes.filter(
            Exists(set_ups.filter(pk=OuterRef("authenticator_id")))
        ),
        # A code that another transaction has locked keeps its authenticator until the next cleanup.
        "abandoned set-ups": set_ups.exclude(
            Exists(backup_codes.filter(authenticator_id=OuterRef("pk")))
        ),
        "remembered devices": RememberedDevice.objects.filter(expires_at__lte=now),
    }
