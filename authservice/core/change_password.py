"""Changing one's password: the old one is asked for, and only this sign-in goes on."""

from __future__ import annotations

from django.db import transaction

from authservice.core import attempts, directory, passwords, sign_ins
from authservice.core.models import SignIn
from authservice.core.people import Person
from authservice.kernel import errors, events, messages
from authservice.kernel.events import Event
from authservice.kernel.ports import Client


def change(person: Person, sign_in: SignIn, old: str, new: str, client: Client) -> None:
    """Raises `TooManyAttempts`, `InvalidCredentials`, `InvalidPassword`."""
    guess = attempts.key("change-password", person.id)
    attempts.take(guess, attempts.PASSWORD)
    if passwords.check(person, person.user.get_username(), old, client) is None:
        raise errors.InvalidCredentials
    if new == old:
        raise errors.InvalidPassword("new_password: Must differ from the old one.")
    encoded = passwords.encoded(new, person.user)
    using = directory.database()
    with transaction.atomic(using=using):
        attempts.give_back(guess)
        before = person.user.password
        passwords.store(person, encoded)
        sign_ins.end_others(person, sign_in, sign_ins.CHANGED)
        passwords.remark(person, before)
        event = Event(action="auth.password.changed", user=person.user, client=client)
        events.tell(event, using=using)
        messages.send(messages.PASSWORD_CHANGED, person.email, client, using=using)
