"""Changing one's password: the old one is asked for, and only this sign-in goes on."""

from __future__ import annotations

from django.db import transaction

from authservice.core import attempts, directory, facts, guesses, passwords, sign_ins
from authservice.core.models import SignIn
from authservice.core.people import Person
from authservice.kernel import errors, messages
from authservice.kernel.client import Client
from authservice.kernel.events import Event


def change(person: Person, sign_in: SignIn, old: str, new: str, client: Client) -> None:
    """Raises `TooManyAttempts`, `InvalidCredentials`, `InvalidPassword`."""
    guess = guesses.at_change(person)
    try:
        attempts.take(guess, attempts.PASSWORD)
    except errors.TooManyAttempts:
        facts.tell(_throttled(person, client))
        raise
    accepted = passwords.check(person, person.user.get_username(), old, client)
    if accepted is None or accepted.user.pk != person.user.pk:
        raise errors.InvalidCredentials
    attempts.give_back(guess)
    if new == old:
        raise errors.InvalidPassword(
            "new_password: Must differ from the old one.",
            details={"new_password": ["Must differ from the old one."]},
        )
    encoded = passwords.encoded(new, person.user, field="new_password")
    using = directory.database()
    with transaction.atomic(using=using):
        if passwords.locked(person) != person.user.password:
            raise errors.InvalidCredentials  # what was proven is the old password no more
        if not sign_ins.stands(sign_in):
            raise errors.InvalidToken
        passwords.store(person, encoded)
        sign_ins.end_others(person, sign_in, sign_ins.CHANGED)
        sign_ins.keep(person, sign_in)
        event = Event(action="auth.password.changed", user=person.user, client=client)
        facts.tell(event)
        messages.send(messages.PASSWORD_CHANGED, person.email, client, using=using)


def _throttled(person: Person, client: Client) -> Event:
    return Event(
        action="security.account.throttled",
        user=person.user,
        client=client,
        metadata={"reason": "throttled", "method": "change_password"},
    )
