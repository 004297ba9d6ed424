"""Signing up: the host's user, our account and the first sign-in, in one transaction."""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from authservice.core import directory, facts, identity, login, passwords, sending
from authservice.core.conf import core
from authservice.core.host import host
from authservice.core.login import Login
from authservice.core.models import Account
from authservice.core.people import Person
from authservice.core.receivers import own_signup
from authservice.kernel import errors, messages
from authservice.kernel.events import Event
from authservice.kernel.ports import Client
from authservice.kernel.sql import Insert

_TRIES = 5
_BASE = 21  # characters of a made username before its suffix
_SUFFIX = 4  # random octets after it

_INSERT = Insert(lambda: Account)


@dataclass(frozen=True, kw_only=True)
class Newcomer:
    """What somebody says of themselves; all but the password may be empty."""

    password: str
    email: str = ""
    username: str = ""
    phone_number: str = ""
    name: str = ""
    first_name: str = ""
    last_name: str = ""


def sign_up(newcomer: Newcomer, client: Client) -> Login | None:
    """An account, and tokens unless an address must be verified first.

    None where `SIGNUP_ENUMERATION` hides whether the address was free.

    Raises `SignupDisabled`, `ValidationFailed`, `InvalidPassword`, `UserAlreadyExists`,
    `UsernameAlreadyExists` or `PhoneAlreadyInUse`.
    """
    if not core.allow_signup:
        raise errors.SignupDisabled
    _require_reachable(newcomer)
    encoded = passwords.encoded(newcomer.password, _user(newcomer, newcomer.username, ""))
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
    for made in range(_TRIES):
        username = _free(newcomer, made)
        try:
            return _register(newcomer, _user(newcomer, username, encoded), username, client)
        except IntegrityError:
            # Somebody took a key since it was looked at, or the host's table knows one we do not.
            _refuse_taken(newcomer)
            if made == _TRIES - 1:
                raise
    raise AssertionError  # the loop returns or raises


def _register(newcomer: Newcomer, user: Any, username: str, client: Client) -> Login:
    using = directory.database()
    with transaction.atomic(using=using):
        with own_signup():
            user.save(using=using, force_insert=True)
        account = _account(newcomer, user, username)
        _INSERT.run(using, account)
        person = Person(user, account)
        facts.tell(Event(action="auth.signup", user=user, client=client))
        hidden = core.signup_enumeration == "hide" and bool(newcomer.email)
        if not hidden:
            messages.send(messages.VERIFY_EMAIL, newcomer.email, client, using=using)
        if newcomer.phone_number and core.require_phone_verification:
            messages.send(messages.VERIFY_PHONE, newcomer.phone_number, client, using=using)
        if hidden or login.obstacle(person) is not None:
            return Login(person)
        return login.complete(person, client, method=login.SIGNUP, proofs=("pwd",))


def _user(newcomer: Newcomer, username: str, encoded: str) -> Any:
    """An unsaved user of the host's model that says what the newcomer said."""
    known = host()
    user = known.model()
    user.password = encoded
    for field, value in (
        (known.email, newcomer.email),
        (known.username, username),
        (known.first_name, newcomer.first_name),
        (known.last_name, newcomer.last_name),
    ):
        if field:
            of_host = known.model._meta.get_field(field)
            if of_host.max_length and len(value) > of_host.max_length:
                raise errors.invalid(field, f"Must have at most {of_host.max_length} characters.")
            setattr(user, field, None if of_host.null and not value else value)
    return user


def _account(newcomer: Newcomer, user: Any, username: str) -> Account:
    email_key, username_key, phone_key = _keys(newcomer, username)
    return Account(
        user=user,
        email=newcomer.email,
        email_key=email_key,
        email_claim=email_key or "",
        username=username,
        username_key=username_key,
        username_claim=username_key or "",
        phone_number=newcomer.phone_number,
        phone_key=phone_key,
        name=newcomer.name,
        first_name=newcomer.first_name,
        last_name=newcomer.last_name,
        created_at=timezone.now(),
    )


def _keys(newcomer: Newcomer, username: str) -> tuple[str | None, str | None, str | None]:
    return (
        identity.email_key(newcomer.email) if newcomer.email else None,
        identity.username_key(username) if username else None,
        identity.phone_key(newcomer.phone_number) if newcomer.phone_number else None,
    )


def _free(newcomer: Newcomer, made: int) -> str:
    """The username to take, once it is known that all asked-for keys are free."""
    username = newcomer.username or _made(newcomer.email, made)
    email_key, username_key, phone_key = _keys(newcomer, username)
    held = directory.taken(email=email_key, username=username_key, phone=phone_key)
    # The address comes last: where it is hidden whether it is taken, the others must not tell.
    if phone_key in held:
        raise errors.PhoneAlreadyInUse
    if newcomer.username and username_key in held:
        raise errors.UsernameAlreadyExists
    if email_key in held:
        raise errors.UserAlreadyExists
    return _suffixed(username) if username_key in held else username


def _refuse_taken(newcomer: Newcomer) -> None:
    """Raises for a name or address that the host's table refused and our keys did not know."""
    rows = host().model._base_manager.using(directory.database())
    field = host().email
    unique = field and host().model._meta.get_field(field).unique
    if unique and rows.filter(**{field: newcomer.email}).exists():
        raise errors.UserAlreadyExists
    field = host().username
    if field and newcomer.username and rows.filter(**{field: newcomer.username}).exists():
        raise errors.UsernameAlreadyExists


def _made(email: str, made: int) -> str:
    """A username from the local part, for models that need one; random after the first try."""
    if not host().username:
        return ""
    base = re.sub(r"[^A-Za-z0-9_.-]", "", email.partition("@")[0])[:_BASE]
    return base if len(base) >= 3 and not made else _suffixed(base or "user")


def _suffixed(base: str) -> str:
    return f"{base[:_BASE]}-{secrets.token_hex(_SUFFIX)}"
