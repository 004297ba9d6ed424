"""The passkeys of a user: add, rename, use as a second factor, remove; staff remove them too. The
owner is notified of each change that an intruder could make to get in or to lock the owner out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from authservice.core import errors as core_errors
from authservice.core.credentials import passwords
from authservice.core.login import step_up
from authservice.core.login.step_up import Need
from authservice.core.messages import security_notice
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.sessions import sessions
from authservice.core.sessions.bearer import Caller
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, errors, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.interfaces import AccountAccess, SecondFactor
from authservice.kernel.languages import phrase
from authservice.kernel.levels import HARDWARE_KEY, KEY
from authservice.kernel.message_queue import Message
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret
from authservice.passkeys import attestation, challenges, keys, relying_party
from authservice.passkeys.challenges import CreationOptions, Enrolment
from authservice.passkeys.conf import conf
from authservice.passkeys.errors import (
    LastLoginMethod,
    PasskeyExists,
    PasskeyInvalid,
    PasskeyLimit,
    PasskeyNotFound,
)
from authservice.passkeys.models import Passkey, new_handle
from authservice.passkeys.relying_party import NewPasskey

MAIL_ADDED, MAIL_REMOVED = "passkey-added", "passkey-removed"
MAIL_FACTOR_ON, MAIL_FACTOR_OFF = "passkey-factor-on", "passkey-factor-off"
METHOD = "passkey"  # the login method of sessions that begin with a passkey
DEFAULT_NAME = phrase("Passkey")
# Reasons why sessions end.
ENABLED, REMOVED = "second factor enabled", "passkey removed"
# How long after the password a browser may create a passkey without a dialogue.
_CONDITIONAL = timedelta(minutes=5)
_BARE = phrase(
    "This key does not check who uses it. Add it as a second factor, or set a PIN on it first."
)
_ONLY_FACTOR = phrase("This key can only be a second factor. Remove it instead.")
_NO_FACTORS = phrase("Second factors are not installed on this service.")


@dataclass(frozen=True)
class Wish:
    """What the user wants of a new passkey: its name, and whether it is a second factor."""

    name: str
    second_factor: bool


@clock.once
def begin(caller: Caller, *, conditional: bool, bare: bool) -> tuple[CreationOptions, Secret]:
    """The options to create a passkey, and the token of the request.

    With `conditional` the browser may create the passkey without a dialogue, after a login with a
    password that the browser filled in. `bare` is as in `challenges.creation`. Raises the errors of
    `step_up.require`, and `PasskeyLimit`.
    """
    step_up.require(caller.person, caller.record, Need())
    if conditional:
        _require_fresh_password(caller)
    person = caller.person
    existing = keys.of(person)
    if len(existing) >= keys.LIMIT:
        raise PasskeyLimit
    handle = keys.find_handle(person) or new_handle()
    enrolment = Enrolment(challenges.new(), handle, conditional)
    options = challenges.creation(person, handle, enrolment.challenge, existing, bare=bare)
    return options, challenges.sign_enrolment(enrolment, caller.session)


def _require_fresh_password(caller: Caller) -> None:
    """A browser creates such a passkey without asking, so only a password that was just entered
    proves that the user is present. Raises `StepUpRequired`."""
    # The event of a later code does not count, although its proofs include the password: its level
    # is above `aal1`.
    one_factor = (event for event in caller.record if event.level == "aal1")
    password_times = (event.at for event in one_factor if "pwd" in event.proofs)
    if not any(clock.utc() - time <= _CONDITIONAL for time in password_times):
        raise core_errors.step_up_required("aal1", _CONDITIONAL)


@clock.once
def add(
    caller: Caller, request_token: Secret, credential: Mapping[str, Any], wish: Wish, client: Client
) -> Passkey:
    """Store a passkey that the browser has created.

    If it is the first second factor of the user, all other sessions end. Raises the errors of
    `begin`, `PasskeyInvalid`, `PasskeyExists`, and `ValidationFailed` for a second factor without
    the module of second factors.
    """
    step_up.require(caller.person, caller.record, Need())
    if wish.second_factor:
        _require_factors()
    try:
        enrolment = challenges.read_enrolment(request_token, caller.session)
        if enrolment.conditional:
            _require_fresh_password(caller)
        new = relying_party.registration(
            credential, enrolment.challenge, require_presence=not enrolment.conditional
        )
        if conf.attestation == "direct":
            attestation.require(new)
    except (challenges.Expired, relying_party.Unverified) as error:
        raise PasskeyInvalid from error
    # A browser creates a passkey without a dialogue only where it can verify its user later.
    verifies = new.verified or enrolment.conditional
    if not verifies and not wish.second_factor:
        raise PasskeyInvalid(_BARE)
    with sessions.changing(caller.person, caller.session) as present:
        if not challenges.use_up(enrolment.challenge, present):
            raise PasskeyInvalid
        if len(keys.of(present)) >= keys.LIMIT:
            raise PasskeyLimit
        # Enrolments that begin at once, for a user without a handle, have different handles. The
        # first passkey that is stored decides which one becomes the handle of the user.
        if not keys.take_handle(present, enrolment.handle):
            raise PasskeyInvalid
        before = security_notice.state_of(present)
        is_first = wish.second_factor and not _has_factor(present)
        passkey = _row(present, new, wish, verifies=verifies)
        if not keys.add(passkey):
            raise PasskeyExists
        if is_first:
            sessions.end_without_factor(present, caller.session, ENABLED)
        metadata = {**keys.described(passkey), "second_factor": passkey.second_factor}
        events.record("auth.passkey.added", present, client, **metadata)
        security_notice.notify(MAIL_ADDED, present, client, before, passkey=passkey.name)
    return passkey


def _row(person: Person, new: NewPasskey, wish: Wish, *, verifies: bool) -> Passkey:
    return Passkey(
        user_id=person.user.pk,
        credential_id=new.credential_id,
        public_key=new.public_key,
        counter=new.counter,
        transports=new.transports,
        aaguid=new.aaguid,
        backup_eligible=new.backup_eligible,
        backed_up=new.backed_up,
        name=wish.name or str(DEFAULT_NAME),
        second_factor=wish.second_factor,
        verifies=verifies,
        attested=conf.attestation == "direct",
    )


def _require_factors() -> None:
    """Without the module of second factors, whose method is "code", no login would ask for the
    key."""
    if not any(factor.method == "code" for factor in plugs(SecondFactor)):
        raise errors.invalid("second_factor", _NO_FACTORS)


def _has_factor(person: Person) -> bool:
    return any(factor.is_enabled(person) for factor in plugs(SecondFactor))


@clock.once
def change(
    caller: Caller, passkey_id: str, client: Client, *, name: str, second_factor: bool | None
) -> Passkey:
    """Rename a passkey unless `name` is empty, and set whether it is a second factor unless that is
    None. Raises `PasskeyNotFound` and `InvalidToken`; unless `second_factor` is None, also
    `ValidationFailed` and the errors of `step_up.require`."""
    if second_factor is not None:
        step_up.require(caller.person, caller.record, Need())
        if second_factor:
            _require_factors()
    with sessions.changing(caller.person, caller.session) as present:
        passkey = find(present, passkey_id)
        if name and name != passkey.name:
            names = {"before": passkey.name, "after": name}
            passkey.name = name
            passkey.save(update_fields=["name"])
            events.record("auth.passkey.renamed", present, client, passkey=passkey_id, name=names)
        if second_factor is None or second_factor == passkey.second_factor:
            return passkey
        if not passkey.verifies and not second_factor:
            raise errors.invalid("second_factor", _ONLY_FACTOR)
        before = security_notice.state_of(present)
        is_first = second_factor and not _has_factor(present)
        passkey.second_factor = second_factor
        passkey.save(update_fields=["second_factor"])
        if is_first:
            sessions.end_without_factor(present, caller.session, ENABLED)
        action = "auth.passkey.factor_on" if second_factor else "auth.passkey.factor_off"
        kind = MAIL_FACTOR_ON if second_factor else MAIL_FACTOR_OFF
        events.record(action, present, client, **keys.described(passkey))
        security_notice.notify(kind, present, client, before, passkey=passkey.name)
    return passkey


@clock.once
def remove(caller: Caller, passkey_id: str, client: Client) -> None:
    """Remove a passkey. What sessions have proven by any passkey no longer counts, because it may
    have been this passkey. Raises the errors of `step_up.require`, `PasskeyNotFound`,
    `LastLoginMethod` and `InvalidToken`."""
    step_up.require(caller.person, caller.record, Need())
    with sessions.changing(caller.person, caller.session) as present:
        passkey = find(present, passkey_id)
        before = security_notice.state_of(present)
        Passkey.objects.filter(pk=passkey.pk).delete()
        # A user must not lose the last way to log in.
        if (
            passkey.verifies
            and not present.user.has_usable_password()
            and not any(access.can_log_in(present) for access in plugs(AccountAccess))
        ):
            raise LastLoginMethod  # rolls the removal back
        sessions.withdraw_proofs(present, KEY, HARDWARE_KEY)
        events.record("auth.passkey.removed", present, client, **keys.described(passkey))
        security_notice.notify(MAIL_REMOVED, present, client, before, passkey=passkey.name)


def find(person: Person, passkey_id: str) -> Passkey:
    """Raises `PasskeyNotFound`, also for a passkey of another user."""
    # Compared as text: only the canonical form of an id matches; invalid ids are not found.
    for passkey in keys.of(person):
        if str(passkey.pk) == passkey_id:
            return passkey
    raise PasskeyNotFound


@clock.once
def remove_by_staff(
    person: Person, chosen: QuerySet[Passkey], *, by: Any, client: Client | None = None
) -> list[Passkey]:
    """Remove these passkeys of a user, also the last way to log in: staff can mail a link to set a
    password. The sessions that began with a passkey end, and all if one was a second factor, as if
    staff disable an authenticator app. Returns the removed passkeys. `by` is the member of
    staff."""
    client = client or Client()
    with transaction.atomic(using=databases.primary()):
        passwords.lock_users([person.user.pk])
        removed = keys.remove(chosen.filter(user=person.user.pk))
        if removed:
            sessions.withdraw_proofs(person, KEY, HARDWARE_KEY)
            sessions.end_begun_with(person.user.pk, METHOD, None, REMOVED)
        if any(passkey.second_factor for passkey in removed):
            sessions.end_all(person, REMOVED)
        for passkey in removed:
            events.record_by_staff(
                "auth.passkey.removed", by, person.user, client, **keys.described(passkey)
            )
            if not person.email_proven:
                continue
            # The mail must not contain the IP address, the device or the language of staff.
            details = {"by": "staff", "passkey": passkey.name}
            mail_client = Client(request_id=client.request_id)
            using = databases.primary()
            message_queue.send(
                MAIL_REMOVED, person.email, mail_client, using=using, details=details
            )
    return removed


def signals(person: Person) -> tuple[str, list[str]]:
    """The handle of the user, "" if there was never a passkey, and the ids of all passkeys."""
    return keys.find_handle(person), [passkey.credential_id for passkey in keys.of(person)]


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    kinds = (MAIL_ADDED, MAIL_REMOVED, MAIL_FACTOR_ON, MAIL_FACTOR_OFF)
    return dict.fromkeys(kinds, security_notice.compose)
