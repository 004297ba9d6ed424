"""Signing up: somebody new and their first sign-in, in one transaction."""

from __future__ import annotations

from contextlib import suppress

from authservice.core import directory, facts, login, newcomers, passwords, sending
from authservice.core.conf import core
from authservice.core.host import host
from authservice.core.login import Login
from authservice.core.newcomers import Newcomer
from authservice.core.people import Person
from authservice.kernel import errors, messages
from authservice.kernel.client import Client
from authservice.kernel.events import Event


def sign_up(newcomer: Newcomer, client: Client) -> Login | None:
    """An account, and tokens unless an address must be verified first.

    None where `SIGNUP_ENUMERATION` hides whether the address was free.

    Raises `SignupDisabled`, `ValidationFailed`, `InvalidPassword`, `UserAlreadyExists`,
    `UsernameAlreadyExists` or `PhoneAlreadyInUse`.
    """
    if not core.allow_signup:
        raise errors.SignupDisabled
    _require_reachable(newcomer)
    judged = newcomers.unsaved(newcomer, newcomer.username, "")
    encoded = passwords.encoded(newcomer.password, judged)
    if core.signup_enumeration == "hide" and newcomer.email:
        _create_quietly(newcomer, encoded, client)
        return None
    return _create(newcomer, encoded, client)


def _require_reachable(newcomer: Newcomer) -> None:
    """Raises `ValidationFailed` where an account would be made that nobody can sign in to."""
    by_email = host().email == host().natural
    if not newcomer.email and (by_email or core.require_email_verification):
        raise errors.invalid("email", "This field is required.")
    if not newcomer.phone_number and core.require_phone_verification:
        raise errors.invalid("phone_number", "This field is required.")


def _create_quietly(newcomer: Newcomer, encoded: str, client: Client) -> None:
    """Whoever owns the address learns by mail what came of it, and nobody else does."""
    with suppress(errors.UserAlreadyExists):
        _create(newcomer, encoded, client)
    sending.to_email(messages.SIGNUP, newcomer.email, client)


def _create(newcomer: Newcomer, encoded: str, client: Client) -> Login:
    return newcomers.admit(newcomer, encoded, lambda person: _begin(person, newcomer, client))


def _begin(person: Person, newcomer: Newcomer, client: Client) -> Login:
    using = directory.database()
    facts.tell(Event(action="auth.signup", user=person.user, client=client))
    hidden = core.signup_enumeration == "hide" and bool(newcomer.email)
    if not hidden:
        messages.send(messages.VERIFY_EMAIL, newcomer.email, client, using=using)
    if newcomer.phone_number and core.require_phone_verification:
        messages.send(messages.VERIFY_PHONE, newcomer.phone_number, client, using=using)
    if hidden or login.obstacle(person) is not None:
        return Login(person)
    return login.complete(person, client, method=login.SIGNUP, proofs=("pwd",))
