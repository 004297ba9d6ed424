"""Sign-up: create a user and log them in for the first time, in one transaction."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import replace

from authservice.core.conf import core
from authservice.core.credentials import passwords
from authservice.core.login import login, pending_signups
from authservice.core.login.login import Login
from authservice.core.messages import sending
from authservice.core.recovery import verification
from authservice.core.users import creation
from authservice.core.users.creation import NewUser
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import databases, errors, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.events import Event


def sign_up(newcomer: NewUser, client: Client) -> Login | None:
    """Create an account; the result has tokens unless the address or number must be verified first.

    None if `SIGNUP_ENUMERATION` hides whether the address was free.

    Raises `SignupDisabled`, `ValidationFailed`, `InvalidPassword`, `UserAlreadyExists`,
    `UsernameAlreadyExists` or `PhoneAlreadyInUse`.
    """
    if not core.allow_signup:
        raise errors.SignupDisabled
    _require_reachable(newcomer)
    judged = creation.unsaved_user(newcomer, newcomer.username, "")
    encoded = passwords.hash_new_password(newcomer.password, judged)
    if core.signup_enumeration == "hide" and newcomer.email:
        _create_quietly(newcomer, encoded, client)
        return None
    return _create(replace(newcomer, device=uuid.uuid4()), encoded, client)


def _require_reachable(newcomer: NewUser) -> None:
    """Raises `ValidationFailed` if the new account would have no way to log in."""
    by_email = host().email == host().natural
    if not newcomer.email and (by_email or core.require_email_verification):
        raise errors.invalid("email", "This field is required.")
    if not newcomer.phone_number and core.require_phone_verification:
        raise errors.invalid("phone_number", "This field is required.")


def _create_quietly(newcomer: NewUser, encoded: str, client: Client) -> None:
    """Only the owner of the address learns the result, by mail."""
    if message_queue.can_mail():
        pending = pending_signups.store(newcomer, encoded, client)
        details = {pending_signups.DETAIL: pending}
        sending.to_email(message_queue.SIGNUP, newcomer.email, client, details=details)
        return
    with suppress(errors.UserAlreadyExists):  # there is no worker
        _create(newcomer, encoded, client)


def _create(newcomer: NewUser, encoded: str, client: Client) -> Login:
    return creation.create_user(newcomer, encoded, lambda person: _begin(person, newcomer, client))


def _begin(person: Person, newcomer: NewUser, client: Client) -> Login:
    using = databases.primary()
    events.record(Event(action="auth.signup", user=person.user, client=client))
    hidden = core.signup_enumeration == "hide" and bool(newcomer.email)
    if not hidden:
        message_queue.send(message_queue.VERIFY_EMAIL, newcomer.email, client, using=using)
    if newcomer.phone_number and core.require_phone_verification:
        verification.text_after_commit(newcomer.phone_number, client)
    if hidden or login.login_refusal(person) is not None:
        return Login(person)
    return login.complete(person, client, method=login.SIGNUP, proofs=("pwd",))
