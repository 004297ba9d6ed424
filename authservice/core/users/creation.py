"""Somebody new: the host's user and our account of them, made in one transaction.

Signing up, staff and modules make people here, and say what else belongs to the same transaction.
"""

from __future__ import annotations

import re
import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import IntegrityError, transaction
from django.utils import timezone

from authservice.core.models import Account, PhoneSource
from authservice.core.users import identifiers, lookup
from authservice.core.users.person import Person
from authservice.core.users.signals import own_save
from authservice.core.users.user_model import host
from authservice.kernel import databases, errors
from authservice.kernel.secret import Secret
from authservice.kernel.sql import Insert

_TRIES = 5
_BASE = 21  # characters of a made username before its suffix
_SUFFIX = 4  # random octets after it

_INSERT = Insert(lambda: Account)

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class NewUser:
    """What is said of somebody; all but the password may be empty."""

    password: Secret = field(default_factory=lambda: Secret(""))
    email: str = ""
    username: str = ""
    phone_number: str = ""
    name: str = ""
    first_name: str = ""
    last_name: str = ""
    phone_set_by: str = PhoneSource.SIGNUP
    # The device of the sign-up, stored with the account to save the sign-in a statement.
    device: uuid.UUID | None = None


def create_user(newcomer: NewUser, encoded: str, then: Callable[[Person], T]) -> T:
    """What `then` makes of the new person, in the transaction that made them.

    `encoded` is the hash of their password, or of none. Raises `ValidationFailed`,
    `UserAlreadyExists`, `UsernameAlreadyExists` or `PhoneAlreadyInUse`.
    """
    for made in range(_TRIES):
        username = _is_available(newcomer, made)
        try:
            return _store(newcomer, unsaved_user(newcomer, username, encoded), username, then)
        except IntegrityError:
            # Somebody took a key since it was looked at, or the host's table knows one we do not.
            require_not_taken(newcomer.email, newcomer.username)
            if made == _TRIES - 1:
                raise
    raise AssertionError  # the loop returns or raises


def _store(newcomer: NewUser, user: Any, username: str, then: Callable[[Person], T]) -> T:
    using = databases.primary()
    with transaction.atomic(using=using):
        with own_save():
            user.save(using=using, force_insert=True)
        account = _account(newcomer, user, username)
        _INSERT.run(using, account)
        return then(Person(user, account))


def unsaved_user(newcomer: NewUser, username: str, encoded: str) -> Any:
    """An unsaved user of the host's model with the data of the sign-up.

    Raises `ValidationFailed` for an address that no new account may have.
    """
    if newcomer.email and not identifiers.is_new_email(newcomer.email):
        raise errors.invalid("email", identifiers.NEW_EMAIL_RULE)
    known = host()
    user = known.model()
    user.password = encoded
    for name, value in (
        (known.email, newcomer.email),
        (known.username, username),
        (known.first_name, newcomer.first_name),
        (known.last_name, newcomer.last_name),
    ):
        if name:
            set_field(user, name, value)
    return user


def set_field(user: Any, field: str, value: Any) -> None:
    """Set a field of the host's user. Raises `ValidationFailed` for what is too long for it."""
    of_host = host().model._meta.get_field(field)
    if of_host.max_length and len(value) > of_host.max_length:
        raise errors.invalid(field, f"Must have at most {of_host.max_length} characters.")
    setattr(user, field, None if of_host.null and value == "" else value)


def _account(newcomer: NewUser, user: Any, username: str) -> Account:
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
        phone_set_by=newcomer.phone_set_by,
        name=newcomer.name,
        first_name=newcomer.first_name,
        last_name=newcomer.last_name,
        device_ids=newcomer.device.hex if newcomer.device else "",
        created_at=timezone.now(),
    )


def _keys(newcomer: NewUser, username: str) -> tuple[str | None, str | None, str | None]:
    return (
        identifiers.email_key(newcomer.email) if newcomer.email else None,
        identifiers.username_key(username) if username else None,
        identifiers.phone_key(newcomer.phone_number) if newcomer.phone_number else None,
    )


def require_available(newcomer: NewUser) -> None:
    """Raises `PhoneAlreadyInUse`, `UsernameAlreadyExists` or, last, `UserAlreadyExists`."""
    _is_available(newcomer, 0)


def _is_available(newcomer: NewUser, made: int) -> str:
    """The username to take, once it is known that all asked-for keys are free."""
    username = newcomer.username or _create(newcomer.email, made)
    email_key, username_key, phone_key = _keys(newcomer, username)
    held = lookup.claimed_keys(email=email_key, username=username_key, phone=phone_key)
    # The address comes last: where it is hidden whether it is taken, the others must not tell.
    if phone_key in held:
        raise errors.PhoneAlreadyInUse
    if newcomer.username and username_key in held:
        raise errors.UsernameAlreadyExists
    if email_key in held:
        raise errors.UserAlreadyExists
    return _with_suffix(username) if username_key in held else username


def require_not_taken(email: str, username: str) -> None:
    """Raises for a name or address that the host's table refused and our keys did not know."""
    rows = host().model._base_manager.using(databases.primary())
    field = host().email
    unique = field and host().model._meta.get_field(field).unique
    if unique and email and rows.filter(**{field: email}).exists():
        raise errors.UserAlreadyExists
    field = host().username
    if field and username and rows.filter(**{field: username}).exists():
        raise errors.UsernameAlreadyExists


def _create(email: str, made: int) -> str:
    """A username from the local part, for models that need one; random after the first try."""
    if not host().username:
        return ""
    base = re.sub(r"[^A-Za-z0-9_.-]", "", email.partition("@")[0])[:_BASE]
    return base if len(base) >= 3 and not made else _with_suffix(base or "user")


def _with_suffix(base: str) -> str:
    return f"{base[:_BASE]}-{secrets.token_hex(_SUFFIX)}"
