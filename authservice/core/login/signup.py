"""Sign-up: create a user and log them in for the first time, in one transaction."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import replace
from functools import partial

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import passwords
from authservice.core.login import hook_calls, login, pending_signups
from authservice.core.login.login import Login, NewAccount
from authservice.core.messages import kinds, sending
from authservice.core.recovery import verification
from authservice.core.users import creation
from authservice.core.users.creation import NewPassword, NewUser
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.errors import invalid
from authservice.kernel.phrases import phrase

_PROOFS = ("pwd",)


def sign_up(new_user: NewUser, client: Client) -> Login | None:
    """Create an account; the result has tokens unless the address or number must be verified first.

    None if `SIGNUP_ENUMERATION` hides whether the address was free.

    Raises `SignupDisabled`, `ValidationFailed`, `InvalidPassword`, `UserAlreadyExists`,
    `UsernameAlreadyExists`, `PhoneAlreadyInUse` or, from a hook, `Refused`.
    """
    if not creation.may_create_account(login.SIGNUP):
        raise errors.SignupDisabled
    _require_reachable(new_user)
    unsaved = creation.unsaved_user(new_user, new_user.username)
    encoded = passwords.hash_new_password(new_user.password, unsaved)
    hook_calls.require_signup_allowed(new_user, client, method=login.SIGNUP)
    if core.signup_enumeration == "hide" and new_user.email:
        _create_quietly(new_user, encoded, client)
        return None
    new_user = replace(new_user, device=uuid.uuid4())
    create = partial(creation.create_user, new_user, encoded)

    def welcomed(person: Person) -> Person | None:
        _welcome(person, new_user, client)
        return person if login.login_refusal(person) is None else None

    if core.require_email_verification or core.require_phone_verification:
        return create(lambda person: Login(_welcome(person, new_user, client)))
    account = NewAccount(new_user, create)
    return login.enter(account, client, method=login.SIGNUP, proofs=_PROOFS, change=welcomed)


def _require_reachable(new_user: NewUser) -> None:
    """Raises `ValidationFailed` if the new account would have no way to log in."""
    by_email = host().email == host().natural
    if not new_user.email and (by_email or core.require_email_verification):
        raise invalid("email", phrase("This field is required."))
    if not new_user.phone_number and core.require_phone_verification:
        raise invalid("phone_number", phrase("This field is required."))


def _create_quietly(new_user: NewUser, encoded: NewPassword, client: Client) -> None:
    """Only the owner of the address learns the result, by mail."""
    if message_queue.can_mail():
        pending = pending_signups.store(new_user, encoded, client)
        details = {pending_signups.DETAIL: pending}
        sending.to_email(kinds.SIGNUP, new_user.email, client, details=details)
        return
    with suppress(errors.UserAlreadyExists):  # there is no worker
        creation.create_user(new_user, encoded, partial(_welcome, new_user=new_user, client=client))


def _welcome(person: Person, new_user: NewUser, client: Client) -> Person:
    """Record the sign-up, and send what verifies the address and the number."""
    events.record("auth.signup", person, client)
    if not (core.signup_enumeration == "hide" and new_user.email):
        using = databases.primary()
        message_queue.send(kinds.VERIFY_EMAIL, new_user.email, client, using=using)
    if new_user.phone_number and core.require_phone_verification:
        verification.text_after_commit(person, new_user.phone_number, client)
    return person
