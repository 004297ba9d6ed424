"""Sign-up: create a user and log them in for the first time, in one transaction."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import replace

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import passwords
from authservice.core.login import hook_calls, login, pending_signups
from authservice.core.login.hook_calls import Prepared
from authservice.core.login.login import Login
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
    return _create(new_user, encoded, client, _prepared(new_user, client)).admitted()


def _prepared(new_user: NewUser, client: Client) -> Prepared:
    if core.require_email_verification or core.require_phone_verification:
        return Prepared()  # the user is not logged in
    return hook_calls.prepare_signup(new_user, client, method=login.SIGNUP, proofs=_PROOFS)


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
        _create(new_user, encoded, client, Prepared())


def _create(new_user: NewUser, encoded: NewPassword, client: Client, prepared: Prepared) -> Login:
    return creation.create_user(
        new_user, encoded, lambda person: _begin(person, new_user, client, prepared)
    )


def _begin(person: Person, new_user: NewUser, client: Client, prepared: Prepared) -> Login:
    using = databases.primary()
    recorded = events.Batch()
    recorded.add("auth.signup", person, client)
    hidden = core.signup_enumeration == "hide" and bool(new_user.email)
    if not hidden:
        message_queue.send(kinds.VERIFY_EMAIL, new_user.email, client, using=using)
    if new_user.phone_number and core.require_phone_verification:
        verification.text_after_commit(person, new_user.phone_number, client)
    if hidden or login.login_refusal(person) is not None:
        recorded.run()
        return Login(person)
    method = login.SIGNUP
    return login.complete(
        person, client, method=method, proofs=_PROOFS, prepared=prepared, recorded=recorded
    )
