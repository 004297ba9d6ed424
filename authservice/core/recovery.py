"""A forgotten password: asking for a link or code, and setting a new one with it."""

from __future__ import annotations

from django.db import transaction

from authservice.core import (
    directory,
    facts,
    guesses,
    identity,
    passwords,
    sending,
    sign_ins,
    tickets,
    verification,
)
from authservice.core.conf import core
from authservice.core.models import Ticket
from authservice.core.people import Person
from authservice.kernel import errors, messages
from authservice.kernel.client import Client
from authservice.kernel.events import Event


def ask_by_email(email: str, client: Client) -> None:
    sending.to_email(messages.RESET_BY_LINK, email, client)


def ask_by_phone(phone: str, client: Client) -> None:
    """Raises `SmsNotConfigured`."""
    sending.to_phone(messages.RESET_BY_CODE, phone, client)


def reset_with_link(token: str, email: str, new_password: str, client: Client) -> None:
    """Raises `InvalidLink`, `LinkExpired` or `InvalidPassword`; a refused password spends nothing.

    Wrong, unknown and meant for another address are one answer.
    """
    if not email and core.reset_requires_email:
        raise errors.invalid("email", "This field is required.")
    person, ticket = tickets.find_link(tickets.RESET, token)
    if ticket.spent_at is not None or (email and ticket.target_key != identity.email_key(email)):
        raise errors.InvalidLink
    encoded = passwords.encoded(new_password, person.user, field="new_password")
    with transaction.atomic(using=directory.database()):
        if not _still_good(person, ticket):
            raise errors.InvalidLink
        _reset(person, encoded, client)
        if ticket.payload == tickets.PROVES_EMAIL:
            verification.accept_email(person, client)


def reset_with_code(phone: str, code: str, new_password: str, client: Client) -> None:
    """Raises `InvalidPassword`, or as `tickets.find_code` does; the number must be a verified
    one."""
    key = identity.phone_key(phone)
    person, ticket = tickets.find_code(tickets.RESET, key, code, client=client)
    if not person.phone_number_verified:
        raise errors.InvalidVerificationCode
    try:
        encoded = passwords.encoded(new_password, person.user, field="new_password")
    except errors.InvalidPassword:
        tickets.give_back(ticket)  # the code was right: this was no guess
        raise
    with transaction.atomic(using=directory.database()):
        if not _still_good(person, ticket):
            raise errors.InvalidVerificationCode
        _reset(person, encoded, client)


def _still_good(person: Person, ticket: Ticket) -> bool:
    """Spend the ticket, unless the password was changed since it was looked at."""
    present = passwords.locked(person)
    return passwords.still(ticket.password_mark, present) and tickets.spend(ticket)


def _reset(person: Person, encoded: str, client: Client) -> None:
    """A new password by proof of an address: nobody who was in stays in."""
    passwords.store(person, encoded)
    sign_ins.end_everywhere(person, sign_ins.RESET)
    tickets.end_all(person, tickets.RESET)
    using = directory.database()

    def forgive() -> None:  # Django names what fails, and a partial has no name
        guesses.forgive([person])

    # Whatever strangers guessed, the owner comes in with the new password. Once the user's row is
    # let go: a login that holds a counter may wait for that row.
    transaction.on_commit(forgive, using=using, robust=True)
    facts.tell(Event(action="auth.password.reset", user=person.user, client=client))
    messages.send(messages.PASSWORD_CHANGED, person.email, client, using=using)
