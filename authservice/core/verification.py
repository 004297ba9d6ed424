"""Proving an address or a number: what was proven is kept, so a changed one is unverified."""

from __future__ import annotations

from django.db import transaction

from authservice.core import directory, facts, identity, sending, tickets
from authservice.core.models import Account
from authservice.core.people import Person
from authservice.kernel import errors, messages
from authservice.kernel.client import Client
from authservice.kernel.events import Event


def send_to_email(email: str, client: Client) -> None:
    sending.to_email(messages.VERIFY_EMAIL, email, client)


def send_to_phone(phone: str, client: Client) -> None:
    """Raises `SmsNotConfigured`."""
    sending.to_phone(messages.VERIFY_PHONE, phone, client)


def verify_email(token: str, email: str, client: Client) -> None:
    """Verify by a mailed link; a second click within its life succeeds again.

    Raises `InvalidVerificationToken` or `VerificationTokenExpired`.
    """
    try:
        person, ticket = tickets.find_link(tickets.VERIFY_EMAIL, token)
    except errors.LinkExpired as wrong:
        raise errors.VerificationTokenExpired from wrong
    except errors.InvalidLink as wrong:
        raise errors.InvalidVerificationToken from wrong
    key = identity.email_key(email)
    if ticket.target_key != key or person.email_key != key:
        raise errors.InvalidVerificationToken
    with transaction.atomic(using=directory.database()):
        if tickets.spend(ticket):
            accept_email(person, client)
            messages.send(messages.WELCOME, person.email, client, using=directory.database())


def accept_email(person: Person, client: Client) -> None:
    """The present address has been proven."""
    _keep(person, "user.email.verified", client, verified_email_key=person.email_key)


def verify_phone(phone: str, code: str, client: Client) -> None:
    """Verify by a texted code. Raises as `tickets.find_code` does."""
    key = identity.phone_key(phone)
    person, ticket = tickets.find_code(tickets.VERIFY_PHONE, key, code, client=client)
    with transaction.atomic(using=directory.database()):
        if not tickets.spend(ticket):
            raise errors.InvalidVerificationCode
        _keep(person, "user.phone.verified", client, verified_phone_key=key)


def _keep(person: Person, action: str, client: Client, **proven: str) -> None:
    Account.objects.using(directory.database()).filter(pk=person.user.pk).update(**proven)
    for name, value in proven.items():
        setattr(person.account, name, value)
    event = Event(action=action, user=person.user, client=client)
    facts.tell(event)
