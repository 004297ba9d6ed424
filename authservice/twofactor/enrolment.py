"""The second factor of somebody signed in: set up, confirmed, looked at, given up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from django.db import transaction

from authservice.core import attempts, directory, facts, sign_ins
from authservice.core.models import SignIn
from authservice.core.people import Person
from authservice.kernel import errors
from authservice.kernel.client import Client
from authservice.kernel.events import Event
from authservice.kernel.settings import root
from authservice.twofactor import authenticators, backup_codes, guessing, letters, totp
from authservice.twofactor.conf import conf
from authservice.twofactor.models import Authenticator

ENABLED = "second factor enabled"  # why other sign-ins ended

T = TypeVar("T")


@dataclass(frozen=True)
class Enrolment:
    """What is shown once: the secret, the same as an otpauth URI, and the backup codes."""

    secret: str
    uri: str
    backup_codes: list[str]


@dataclass(frozen=True)
class Status:
    enabled: bool = False
    backup_codes_remaining: int = 0


def set_up(person: Person) -> Enrolment:
    """A new secret that is not asked for until a code of it has been given; it replaces one that
    never was. Raises `TwoFactorAlreadyEnabled`."""
    found = authenticators.of(person)
    if found is None:
        authenticators.begin(person)
    secret = totp.new_secret()
    with transaction.atomic(using=directory.database()):
        # Whether it is enabled is asked by the UPDATE itself: one that was enabled meanwhile stays.
        pending = authenticators.renew(person, secret)
        if pending is None:
            raise errors.TwoFactorAlreadyEnabled
        codes = backup_codes.replace(pending)
    account = person.email or person.username or person.id
    return Enrolment(secret, totp.uri(secret, issuer=issuer(), account=account), codes)


def issuer() -> str:
    """What apps call the service; a colon would end it where they read it."""
    name = conf.issuer or urlsplit(root.api_url).hostname or "authservice"
    return name.replace(":", " ")


def confirm(person: Person, sign_in: SignIn, code: str, client: Client) -> None:
    """Enable what was set up, by a code of it; every other sign-in ends.

    Raises `TwoFactorNotEnabled` where nothing was set up, `TwoFactorAlreadyEnabled`,
    `TooManyAttempts` and `TwoFactorInvalid`.
    """
    pending = pending_of(authenticators.of(person))
    guess = guessing.take(guessing.TOTP, person, pending, client)
    with transaction.atomic(using=directory.database()):
        if enable(pending, code, person, client, within=sign_in):
            _require_standing(sign_in)
            attempts.give_back(guess)
            sign_ins.end_others(person, sign_in, ENABLED)
            return
    guessing.tell_failed(guessing.TOTP, person, client)
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
    code: str,
    person: Person,
    client: Client,
    *,
    within: SignIn | None = None,
) -> bool:
    """Whether the code was right, and this call enabled what was set up, `within` a sign-in."""
    step = authenticators.step_of(pending, code)
    if step is None or not authenticators.enable(pending, step, within=within):
        return False
    facts.tell(Event(action="auth.2fa.enabled", user=person.user, client=client))
    letters.notify(letters.ENABLED, person, client)
    return True


def disable(person: Person, sign_in: SignIn, code: str, client: Client) -> None:
    """Give the second factor up. Raises as `_with_code` does."""

    def forget(authenticator: Authenticator) -> None:
        authenticator.delete(using=directory.database())
        facts.tell(Event(action="auth.2fa.disabled", user=person.user, client=client))
        letters.notify(letters.DISABLED, person, client)

    _with_code(person, sign_in, code, client, forget)


def renew_backup_codes(person: Person, sign_in: SignIn, code: str, client: Client) -> list[str]:
    """A new set; the old codes die. Raises as `_with_code` does."""

    def renew(authenticator: Authenticator) -> list[str]:
        event = Event(action="auth.2fa.backup_regenerated", user=person.user, client=client)
        facts.tell(event)
        letters.notify(letters.CODES_RENEWED, person, client)
        return backup_codes.replace(authenticator)

    return _with_code(person, sign_in, code, client, renew)


def status(person: Person) -> Status:
    found = authenticators.of(person)
    if found is None or not found.confirmed:
        return Status()
    return Status(enabled=True, backup_codes_remaining=backup_codes.remaining(found))


def _with_code(
    person: Person, sign_in: SignIn, code: str, client: Client, then: Callable[[Authenticator], T]
) -> T:
    """What `then` makes of an enabled authenticator, in the transaction that uses up its code.

    Raises `TwoFactorNotEnabled`, `TooManyAttempts`, `TwoFactorInvalid`.
    """
    found = authenticators.of(person)
    if found is None or not found.confirmed:
        raise errors.TwoFactorNotEnabled
    guess = guessing.take(guessing.TOTP, person, found, client)
    step = authenticators.step_of(found, code)
    with transaction.atomic(using=directory.database()):
        if step is not None and authenticators.use(found, step):
            _require_standing(sign_in)
            attempts.give_back(guess)
            return then(found)
    guessing.tell_failed(guessing.TOTP, person, client)
    raise errors.TwoFactorInvalid


def _require_standing(sign_in: SignIn) -> None:
    """Raises `InvalidToken` where the caller's sign-in has ended since the request came in."""
    if not sign_ins.stands(sign_in):
        raise errors.InvalidToken
