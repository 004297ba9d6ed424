"""Log in with a link or its code: proves the address, then passes the one door (`login`)."""

from __future__ import annotations

from django.db import transaction

from authservice.core.credentials import lockout, one_time
from authservice.core.login import hooks, login
from authservice.core.login.hooks import Prepared
from authservice.core.login.login import Login
from authservice.core.messages import sending
from authservice.core.models import OneTimeToken
from authservice.core.recovery import first_proof
from authservice.core.users import identifiers, lookup
from authservice.core.users.person import Person
from authservice.kernel import databases, errors, message_queue
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.magiclink import auto_register, messages
from authservice.magiclink.auto_register import METHOD
from authservice.magiclink.messages import KIND

# Not a value of RFC 8176: its `otp` would claim possession of a device; a mailed link proves none.
_PROOFS = ("email",)


def request_link(email: str, client: Client) -> None:
    """Send an e-mail with a link and a code. Raises `EmailNotConfigured`."""
    if not message_queue.can_mail():
        raise errors.EmailNotConfigured
    sending.to_email(KIND, email, client, details=auto_register.origin(client))


def log_in_by_link(token: Secret, client: Client, *, caller: Person | None) -> Login:
    """Log in with the token of a link. `caller` is described at `first_proof.confirm_address`.

    Raises `InvalidLink`, `LinkExpired`, or the error with which `login` or a hook refuses the user.
    """
    try:
        person, issued = one_time.find_link(messages.purpose(), token)
    except errors.Fault as wrong:
        owner = one_time.owner_of(token, messages.purpose())
        lockout.count_throttle(lockout.network_of(owner, client))
        if owner is not None:  # attackers must not fill the log with unknown tokens
            login.record_failure(owner, client, _reason(wrong), method=METHOD)
        raise
    return _enter(person, issued, client, caller, errors.InvalidLink())


def log_in_by_code(email: str, code: Secret, client: Client, *, caller: Person | None) -> Login:
    """Log in with a code. Raises as `one_time.find_code` does, or as `login` refuses the user."""
    key = identifiers.email_key(email)
    try:
        person, issued = one_time.find_code(messages.purpose(), key, code, client=client)
    except errors.InvalidVerificationCode as wrong:
        login.record_failure(lookup.find_by_email(email), client, _reason(wrong), method=METHOD)
        raise
    return _enter(person, issued, client, caller, errors.InvalidVerificationCode())


def can_log_in(person: Person) -> bool:
    """Fills the slot `login_method`."""
    return person.email_verified and message_queue.can_mail()


def target_of(token: Secret) -> str:
    """The key of the address that a link was sent to, or "" for an invalid link. The link stays
    unused."""
    try:
        return one_time.find_link(messages.purpose(), token)[1].target_key
    except errors.Fault:
        return ""


def _enter(
    person: Person, issued: OneTimeToken, client: Client, caller: Person | None, wrong: errors.Fault
) -> Login:
    if person.email_verified:
        login.check_may_log_in(person, client, method=METHOD)  # a refusal does not use the token
    prepared = hooks.prepare(person.user, client, method=METHOD, proofs=_PROOFS)
    outcome = None
    with transaction.atomic(using=databases.primary()):
        present = one_time.consume_for(messages.purpose(), person, issued)
        if present is not None:
            present = _proven(present, client, caller)
            if login.login_refusal(present) is None:
                outcome = _complete(present, client, prepared)
    if outcome is not None:
        return outcome.admitted()
    # Refuse outside the transaction, so that the event stays recorded and a first verification is
    # committed. It must end earlier access even if the login fails for a missing phone number.
    if present is None:
        login.record_failure(person, client, _reason(wrong), method=METHOD)
        raise wrong
    return _complete(present, client, prepared)


def _complete(person: Person, client: Client, prepared: Prepared) -> Login:
    return login.complete(person, client, method=METHOD, proofs=_PROOFS, prepared=prepared)


def _proven(person: Person, client: Client, caller: Person | None) -> Person:
    if not person.email_verified:
        auto_register.forget(person)
    return first_proof.confirm_address(person, client, caller=caller)


def _reason(wrong: errors.Fault) -> str:
    return wrong.code.lower()
