"""Creates a user: the host's row and our account in one transaction.

Sign-up, staff and modules create users here, and pass what else belongs to the same transaction.
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
from authservice.core.users.further_fields import NOTHING, FurtherFields
from authservice.core.users.person import Person
from authservice.core.users.signals import own_save
from authservice.core.users.user_model import host
from authservice.kernel import databases, errors
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.kernel.sql import Insert

_ATTEMPTS = 5
_BASE = 21  # characters of a generated username before its suffix
_SUFFIX = 4  # random bytes of the suffix

_INSERT = Insert(lambda: Account)

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class NewUser:
    """The data of a new user; any of it may be empty."""

    password: Secret = field(default_factory=lambda: Secret(""))
    email: str = ""
    username: str = ""
    phone_number: str = ""
    name: str = ""
    first_name: str = ""
    last_name: str = ""
    avatar: str = ""
    phone_set_by: str = PhoneSource.SIGNUP
    # The device of the sign-up, stored with the account to save a statement of the login.
    device: uuid.UUID | None = None
    further: FurtherFields = NOTHING


def create_user(new_user: NewUser, encoded: str, then: Callable[[Person], T]) -> T:
    """Create the user and return the result of `then`, which runs in the same transaction.

    `encoded` is the hash of the password, or an unusable one. Raises `ValidationFailed`,
    `UserAlreadyExists`, `UsernameAlreadyExists` or `PhoneAlreadyInUse`.
    """
    for attempt in range(_ATTEMPTS):
        username = _available_username(new_user, attempt)
        try:
            return _store(new_user, unsaved_user(new_user, username, encoded), username, then)
        except IntegrityError:
            # A concurrent transaction took a key after the query, or the host's table has a unique
            # value that our accounts do not know.
            require_not_taken(new_user.email, new_user.username)
            new_user.further.require_valid()
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError  # the loop returns or raises


def _store(new_user: NewUser, user: Any, username: str, then: Callable[[Person], T]) -> T:
    using = databases.primary()
    with transaction.atomic(using=using):
        with own_save():
            user.save(using=using, force_insert=True)
        account = _account(new_user, user, username)
        _INSERT.run(using, account)
        new_user.further.store(user)
        return then(Person(user, account))


def unsaved_user(new_user: NewUser, username: str, encoded: str) -> Any:
    """An unsaved instance of the host's user model.

    Raises `ValidationFailed` for an address that a new account must not have.
    """
    if new_user.email and not identifiers.is_new_email(new_user.email):
        raise errors.invalid("email", identifiers.NEW_EMAIL_RULE)
    known = host()
    user = known.model()
    user.password = encoded
    for name, value in (
        (known.email, new_user.email),
        (known.username, username),
        (known.first_name, new_user.first_name),
        (known.last_name, new_user.last_name),
    ):
        if name:
            set_field(user, name, value)
    new_user.further.assign(user)
    return user


def set_field(user: Any, field: str, value: Any) -> None:
    """Set a field of the host's user. Raises `ValidationFailed` if the value is too long."""
    of_host = host().model._meta.get_field(field)
    if of_host.max_length and len(value) > of_host.max_length:
        rule = phrase("Must have at most %(count)d characters.", count=of_host.max_length)
        raise errors.invalid(field, rule)
    setattr(user, field, None if of_host.null and value == "" else value)


def _account(new_user: NewUser, user: Any, username: str) -> Account:
    email_key, username_key, phone_key = _keys(new_user, username)
    return Account(
        user=user,
        email=new_user.email,
        email_key=email_key,
        email_claim=email_key or "",
        username=username,
        username_key=username_key,
        username_claim=username_key or "",
        phone_number=new_user.phone_number,
        phone_key=phone_key,
        phone_set_by=new_user.phone_set_by,
        name=new_user.name,
        first_name=new_user.first_name,
        last_name=new_user.last_name,
        avatar=new_user.avatar,
        device_ids=new_user.device.hex if new_user.device else "",
        created_at=timezone.now(),
    )


def _keys(new_user: NewUser, username: str) -> tuple[str | None, str | None, str | None]:
    return (
        identifiers.email_key(new_user.email) if new_user.email else None,
        identifiers.username_key(username) if username else None,
        identifiers.phone_key(new_user.phone_number) if new_user.phone_number else None,
    )


def require_available(new_user: NewUser) -> None:
    """Raises `PhoneAlreadyInUse`, `UsernameAlreadyExists` or, last, `UserAlreadyExists`."""
    _available_username(new_user, 0)


def _available_username(new_user: NewUser, attempt: int) -> str:
    """The username for the user, after checking that all requested identifiers are free."""
    username = new_user.username or _generated_username(new_user.email, attempt)
    email_key, username_key, phone_key = _keys(new_user, username)
    keys = {"email": email_key, "username": username_key, "phone": phone_key}
    held = lookup.claimed_keys(**keys, name=username)
    # The address comes last: with `SIGNUP_ENUMERATION = "hide"`, an error about another identifier
    # must not depend on whether the address is taken.
    if phone_key in held:
        raise errors.PhoneAlreadyInUse
    if new_user.username and username_key in held:
        raise errors.UsernameAlreadyExists
    if email_key in held:
        raise errors.UserAlreadyExists
    return _with_suffix(username) if username_key in held else username


def require_not_taken(email: str, username: str) -> None:
    """Raises `UserAlreadyExists` or `UsernameAlreadyExists` for a value that is unique in the
    host's table but unknown to our accounts."""
    rows = host().model._base_manager.using(databases.primary())
    field = host().email
    unique = field and host().model._meta.get_field(field).unique
    if unique and email and rows.filter(**{field: email}).exists():
        raise errors.UserAlreadyExists
    field = host().username
    if field and username and rows.filter(**{field: username}).exists():
        raise errors.UsernameAlreadyExists


def _generated_username(email: str, attempt: int) -> str:
    """A username from the local part, for models that need one; with a random suffix after the
    first attempt."""
    if not host().username:
        return ""
    base = re.sub(r"[^A-Za-z0-9_.-]", "", email.partition("@")[0])[:_BASE]
    return base if len(base) >= 3 and not attempt else _with_suffix(base or "user")


def _with_suffix(base: str) -> str:
    return f"{base[:_BASE]}-{secrets.token_hex(_SUFFIX)}"
