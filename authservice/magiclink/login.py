"""Signing in by a link or its code: the address is proven first, then the door decides."""

from __future__ import annotations

from django.db import transaction

from authservice.core.credentials import lockout, one_time
from authservice.core.login import login
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

# Not one of RFC 8176: its `otp` would make a mailed link look like a device in somebody's hand.
_PROOFS = ("email",)


def request_link(email: str, client: Client) -> None:
    """Have a link and a code mailed. Raises `EmailNotConfigured`."""
    if not message_queue.can_mail():
        raise errors.EmailNotConfigured
    sending.to_email(KIND, email, client, details=auto_register.origin(client))


def log_in_by_link(token: Secret, client: Client, *, caller: Person | None) -> Login:
    """Raises `InvalidLink`, `LinkExpired` or a refusal of the door; see `unproven` of `caller`."""
    try:
        person, ticket = one_time.find_link(messages.purpose(), token)
    except errors.Fault as wrong:
        owner = one_time.owner_of(token, messages.purpose())
        lockout.count_throttle(lockout.network_of(owner, client))
        if owner is not None:  # attackers must not fill the log with unknown tokens
            login.record_failure(owner, client, _reason(wrong), method=METHOD)
        raise
    return _enter(person, ticket, client, caller, errors.InvalidLink())


def log_in_by_code(email: str, code: Secret, client: Client, *, caller: Person | None) -> Login:
    """Raises as `tickets.find_code` does, or a refusal of the door."""
    key = identifiers.email_key(email)
    try:
        person, ticket = one_time.find_code(messages.purpose(), key, code, client=client)
    except errors.InvalidVerificationCode as wrong:
        login.record_failure(lookup.find_by_email(email), client, _reason(wrong), method=METHOD)
        raise
    return _enter(person, ticket, client, caller, errors.InvalidVerificationCode())


def target_of(token: Secret) -> str:
    """The key of the address that a link was mailed to, or "" for no link. Nothing is spent."""
    try:
        return one_time.find_link(messages.purpose(), token)[1].target_key
    except errors.Fault:
        return ""


def _enter(
    person: Person, ticket: OneTimeToken, client: Client, caller: Person | None, wrong: errors.Fault
) -> Login:
    if person.email_verified:
        login.check_may_sign_in(person, client, method=METHOD)  # a refusal spends nothing
    with transaction.atomic(using=databases.primary()):
        present = one_time.consume_for(messages.purpose(), person, ticket)
        if present is not None:
            present = _proven(present, client, caller)
            if login.login_refusal(present) is None:
                return login.complete(present, client, method=METHOD, proofs=_PROOFS)
    # Refused out here, where the entry that tells of it stays. So does a first proof: for want of a
    # verified number nobody who held the account without proof may stay in.
    if present is None:
        login.record_failure(person, client, _reason(wrong), method=METHOD)
        raise wrong
    return login.complete(present, client, method=METHOD, proofs=_PROOFS)


def _proven(person: Person, client: Client, caller: Person | None) -> Person:
    if not person.email_verified:
        auto_register.forget(person)
    return first_proof.confirm_address(person, client, caller=caller)


def _reason(wrong: errors.Fault) -> str:
    return wrong.code.lower()
