"""A forgotten password: request a link or code, and set a new password with it."""

from __future__ import annotations

from django.db import transaction

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import lockout, one_time, passwords, recovery_number
from authservice.core.messages import kinds, security_notice, sending
from authservice.core.models import OneTimeToken
from authservice.core.recovery import first_proof, takeover, verification
from authservice.core.users import identifiers, lookup
from authservice.core.users.creation import NewPassword
from authservice.core.users.person import Person
from authservice.kernel import databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.errors import Fault, invalid
from authservice.kernel.languages import phrase
from authservice.kernel.secret import Secret


def request_by_email(email: str, client: Client) -> None:
    sending.to_email(kinds.RESET_BY_LINK, email, client)


def request_by_phone(phone: str, client: Client) -> None:
    """Raises `SmsNotConfigured`."""
    sending.to_phone(kinds.RESET_BY_CODE, phone, client)


def reset_with_link(
    token: Secret,
    email: str,
    new_password: Secret,
    client: Client,
    *,
    caller: Person | None = None,
) -> Secret:
    """Set a password, and prove the address that the link was mailed to.

    Revokes all device tokens; returns a new one for the client's device, "" if it is not known.
    Raises `InvalidLink`, `LinkExpired` or `InvalidPassword`; a refused password does not use the
    link up. An invalid token, an unknown token and a token for another address get the same
    answer. `caller` is described at `first_proof.confirm_address`.
    """
    if not email and core.reset_requires_email:
        raise invalid("email", phrase("This field is required."))
    try:
        return _reset_with_link(token, email, new_password, client, caller)
    except (errors.InvalidLink, errors.LinkExpired) as error:
        owner = one_time.owner_of(token, one_time.RESET)
        lockout.count_network(owner, client)
        if owner is not None:  # attackers must not fill the log with unknown tokens
            _record_failure(owner, client, error)
        raise


def _reset_with_link(
    token: Secret, email: str, new_password: Secret, client: Client, caller: Person | None
) -> Secret:
    person, issued = require_open(token, email)
    encoded = passwords.hash_new_password(new_password, person.user, field="new_password")
    with transaction.atomic(using=databases.primary()):
        # Address, password and `active` may have changed while the password was hashed.
        present = one_time.consume_for(one_time.RESET, person, issued)
        if present is None or present.email_key != issued.target_key:
            raise errors.InvalidLink
        suspect, was_open = first_proof.is_suspect(present, caller), first_proof.was_open(present)
        kind = takeover.RESET_BY_LINK
        if not present.email_proven:
            wipes = suspect and core.wipe_unproven
            kind = takeover.FIRST_PROOF if wipes else takeover.RESET_UNPROVEN
        if takeover.evict(kind, present, client):
            using = databases.primary()
            message_queue.send(kinds.ACCESS_REMOVED, present.email, client, using=using)
        device_token = _reset(present, encoded, client, was_open=was_open)
        verification.accept_email(present, client)
        if suspect and not core.wipe_unproven:
            takeover.distrust(present, client)
        _notify(present, client)
    return device_token


def require_open(token: Secret, email: str) -> tuple[Person, OneTimeToken]:
    """The row of a link that can set a password now. Raises `InvalidLink` or `LinkExpired`."""
    try:
        person, issued = one_time.find_link(one_time.RESET, token)
    except errors.LinkExpired:
        if email and not verification.was_mailed_to(email, one_time.RESET, token):
            raise errors.InvalidLink from None
        raise
    if issued.spent_at is not None or (email and issued.target_key != identifiers.email_key(email)):
        raise errors.InvalidLink
    return person, issued


def reset_with_code(phone: str, code: Secret, new_password: Secret, client: Client) -> Secret:
    """Set a password with a texted code; the number must be one that may reset the password.

    Revokes and returns device tokens as `reset_with_link` does. Raises `InvalidPassword` and the
    errors of `one_time.find_code`.
    """
    try:
        return _reset_with_code(phone, code, new_password, client)
    except errors.InvalidVerificationCode as error:
        # Recorded for unknown numbers too, so that time and statements are the same.
        _record_failure(lookup.find_by_phone(phone), client, error)
        raise


def _record_failure(person: Person | None, client: Client, fault: Fault) -> None:
    events.record("auth.password.reset_failed", person, client, reason=fault.code.lower())


def _reset_with_code(phone: str, code: Secret, new_password: Secret, client: Client) -> Secret:
    key = identifiers.phone_key(phone)
    person, issued = one_time.find_code(one_time.RESET, key, code, client=client)
    if not recovery_number.may_reset_password(person):
        raise errors.InvalidVerificationCode
    encoded = passwords.hash_new_password(new_password, person.user, field="new_password")
    with transaction.atomic(using=databases.primary()):
        present = one_time.consume_for(one_time.RESET, person, issued)
        if present is None or present.phone_key != key:
            raise errors.InvalidVerificationCode
        if not recovery_number.may_reset_password(present):
            raise errors.InvalidVerificationCode
        was_open = first_proof.was_open(present)
        takeover.evict(takeover.RESET_BY_CODE, present, client)
        device_token = _reset(present, encoded, client, was_open=was_open)
        _notify(present, client)
    return device_token


def _reset(person: Person, encoded: NewPassword, client: Client, *, was_open: bool) -> Secret:
    # Only if a client could log in before. The first password of an account that staff created, for
    # example, ends nobody's access.
    if was_open:
        takeover.record_recovery(person)
    passwords.store(person, encoded)
    token = lockout.revoke_other_devices(person, client)

    def forgive() -> None:  # Django logs the name of a callback that fails; a partial has none
        lockout.unlock([person])

    # Clear the counters, so that the owner can log in after an attack. Do it after the commit, to
    # avoid a deadlock: a login that has locked a counter may wait for the user's row.
    databases.after_commit(forgive)
    events.record("auth.password.reset", person, client)
    return token


def _notify(person: Person, client: Client) -> None:
    # The state is read after the eviction: the link of this notice must not restore what the
    # eviction removed.
    before = security_notice.state_of(person)
    security_notice.notify(kinds.PASSWORD_CHANGED, person, client, before)
