"""Signing in by a link or its code: the address is proven first, then the door decides."""

from __future__ import annotations

from django.db import transaction

from authservice.core import directory, guesses, identity, login, sending, tickets, unproven
from authservice.core.login import Login
from authservice.core.models import Ticket
from authservice.core.people import Person
from authservice.kernel import databases, errors, messages
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret
from authservice.magiclink import letters, strangers
from authservice.magiclink.letters import KIND
from authservice.magiclink.strangers import METHOD

# Not one of RFC 8176: its `otp` would make a mailed link look like a device in somebody's hand.
_PROOFS = ("email",)


def ask(email: str, client: Client) -> None:
    """Have a link and a code mailed. Raises `EmailNotConfigured`."""
    if not messages.can_mail():
        raise errors.EmailNotConfigured
    sending.to_email(KIND, email, client, details=strangers.origin(client))


def by_link(token: Secret, client: Client, *, caller: Person | None) -> Login:
    """Raises `InvalidLink`, `LinkExpired` or a refusal of the door; see `unproven` of `caller`."""
    try:
        person, ticket = tickets.find_link(letters.purpose(), token)
    except errors.Fault as wrong:
        owner = tickets.owner_of(token, letters.purpose())
        guesses.count_flood(guesses.network_of(owner, client))
        if owner is not None:  # attackers must not fill the log with unknown tokens
            login.failed(owner, client, _reason(wrong), method=METHOD)
        raise
    return _enter(person, ticket, client, caller, errors.InvalidLink())


def by_code(email: str, code: Secret, client: Client, *, caller: Person | None) -> Login:
    """Raises as `tickets.find_code` does, or a refusal of the door."""
    key = identity.email_key(email)
    try:
        person, ticket = tickets.find_code(letters.purpose(), key, code, client=client)
    except errors.InvalidVerificationCode as wrong:
        login.failed(directory.find_by_email(email), client, _reason(wrong), method=METHOD)
        raise
    return _enter(person, ticket, client, caller, errors.InvalidVerificationCode())


def target_of(token: Secret) -> str:
    """The key of the address that a link was mailed to, or "" for no link. Nothing is spent."""
    try:
        return tickets.find_link(letters.purpose(), token)[1].target_key
    except errors.Fault:
        return ""


def _enter(
    person: Person, ticket: Ticket, client: Client, caller: Person | None, wrong: errors.Fault
) -> Login:
    if person.email_verified:
        login.admit(person, client, method=METHOD)  # a refusal spends nothing
    with transaction.atomic(using=databases.primary()):
        present = tickets.redeem(letters.purpose(), person, ticket)
        if present is not None:
            present = _proven(present, client, caller)
            if login.obstacle(present) is None:
                return login.complete(present, client, method=METHOD, proofs=_PROOFS)
    # Refused out here, where the entry that tells of it stays. So does a first proof: for want of a
    # verified number nobody who held the account without proof may stay in.
    if present is None:
        login.failed(person, client, _reason(wrong), method=METHOD)
        raise wrong
    return login.complete(present, client, method=METHOD, proofs=_PROOFS)


def _proven(person: Person, client: Client, caller: Person | None) -> Person:
    if not person.email_verified:
        strangers.forget(person)
    return unproven.prove(person, client, caller=caller)


def _reason(wrong: errors.Fault) -> str:
    return wrong.code.lower()
