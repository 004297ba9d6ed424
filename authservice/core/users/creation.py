"""Creates a user: the host's row and our account in one transaction.

Sign-up, staff and modules create users here, and pass a function for what else belongs to the same
transaction. If `CORE.ALLOW_SIGNUP` is off, only an address that a user invited can sign up.
Accounts that staff create are not sign-ups.
"""

from __future__ import annotations

import re
import secrets
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.contrib.auth import password_validation
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.models import Account, PhoneSource
from authservice.core.users import host_fields, identifiers, lookup
from authservice.core.users.extra_fields import NOTHING, ExtraFields
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases
from authservice.kernel.errors import Fault, ValidationFailed, invalid
from authservice.kernel.secret import Secret
from authservice.kernel.sql import Insert

_ATTEMPTS = 5  # to insert a user whose username is made up

_INSERT = Insert(lambda: Account)

T = TypeVar("T")
INVITATION = "invitation"


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
    # The device of the sign-up. It is stored with the account, which saves the login a statement.
    device: uuid.UUID | None = None
    extra_fields: ExtraFields = NOTHING


@dataclass(frozen=True)
class NewPassword:
    """A new password: the columns that `set_password` of the user model sets, the hash among them.

    `secret` is the password itself, None if there is none or if only its hash is known.
    """

    columns: Mapping[str, Any] = field(repr=False)
    secret: Secret | None = None

    @property
    def encoded(self) -> str:
        return str(self.columns["password"])

    def assign(self, user: Any) -> list[str]:
        """Set the columns; returns their names."""
        for name, value in self.columns.items():
            setattr(user, name, value)
        return list(self.columns)

    def tell_validators(self, user: Any) -> None:
        """Call `password_changed` of every validator after the commit, as Django does after it has
        saved a user: a validator may keep the passwords that must not be used again."""
        secret = self.secret
        if secret is not None:

            def password_changed() -> None:
                password_validation.password_changed(secret.reveal(), user)

            databases.after_commit(password_changed)


def unusable() -> NewPassword:
    """For users who log in without a password."""
    return NewPassword({"password": make_password(None)})


def create_user(new_user: NewUser, encoded: NewPassword, then: Callable[[Person], T]) -> T:
    """Create the user and return the result of `then`, which runs in the same transaction.

    `encoded` is the hashed password, or an unusable one. Raises `ValidationFailed`,
    `UserAlreadyExists`, `UsernameAlreadyExists`, `PhoneAlreadyInUse`, and `Conflict` if another
    unique column of the host's table gets a value that a user has already.
    """
    for attempt in range(_ATTEMPTS):
        username = _available_username(new_user, attempt)
        try:
            user = unsaved_user(new_user, username, encoded)
            return _store(new_user, user, username, encoded, then)
        except (IntegrityError, errors.Conflict, ValidationFailed) as refusal:
            # A concurrent transaction took a key after the query, or the host's table has a unique
            # value that our accounts do not know.
            if isinstance(refusal, Fault) and not _is_of_table(refusal):
                raise
            require_not_taken(new_user.email, new_user.username)
            new_user.extra_fields.require_valid()
            # The second attempt finds which identifier is taken. Further attempts help only if they
            # make up another username.
            if attempt == _ATTEMPTS - 1 or (attempt and new_user.username):
                raise
    raise AssertionError  # the loop returns or raises


def _is_of_table(fault: Fault) -> bool:
    """Whether the host's table or model refuses the row because a value is not unique."""
    cause = fault.__cause__
    if isinstance(cause, ValidationError):
        by_field = cause.error_dict if hasattr(cause, "error_dict") else {"": cause.error_list}
        codes = {error.code for failures in by_field.values() for error in failures}
        return not codes.isdisjoint(("unique", "unique_together"))
    return isinstance(cause, IntegrityError)


def _store(
    new_user: NewUser,
    user: Any,
    username: str,
    encoded: NewPassword,
    then: Callable[[Person], T],
) -> T:
    using = databases.primary()
    with transaction.atomic(using=using):
        with lookup.own_save(), host_fields.saving(**_names_in_request()):
            user.save(using=using, force_insert=True)
        email_key, username_key, phone_key = _keys(new_user, username)
        account = Account(
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
            created_at=clock.now(),
        )
        _INSERT.run(using, account)
        with host_fields.saving():
            new_user.extra_fields.store(user)
        encoded.tell_validators(user)
        return then(Person(user, account))


def unsaved_user(new_user: NewUser, username: str, encoded: NewPassword | None = None) -> Any:
    """An unsaved instance of the host's user model.

    Raises `ValidationFailed` for an address that a new account must not have, and for a value that
    the host's field does not accept or that each user must have.
    """
    # The host's table could hold only one user without an address, or without a username.
    if not new_user.email and host_fields.must_be_given(host().email):
        raise invalid("email", host_fields.REQUIRED)
    filled_anyway = host_fields.made_up_length() or host().username == host().email
    if not (new_user.username or filled_anyway) and host_fields.must_be_given(host().username):
        raise invalid("username", host_fields.REQUIRED)
    if new_user.email and not identifiers.is_new_email(new_user.email):
        raise invalid("email", identifiers.NEW_EMAIL_RULE)
    fields = host()
    user = fields.model()
    if encoded is not None:
        encoded.assign(user)
    values = {**vars(new_user), "username": username}
    for name, request_name in _names_in_request().items():
        host_fields.set_value(user, name, values[request_name], field=request_name)
    new_user.extra_fields.assign(user)
    return user


def _names_in_request() -> dict[str, str]:
    """The names that requests give to the host's fields that a sign-up fills, by the names of
    those fields."""
    fields = ("email", "username", "first_name", "last_name")
    return {name: field for field in fields if (name := getattr(host(), field))}


def _keys(new_user: NewUser, username: str) -> tuple[str | None, str | None, str | None]:
    """The keys of address, username and phone number; None for an identifier that is empty."""
    return (
        identifiers.email_key(new_user.email) if new_user.email else None,
        identifiers.username_key(username) if username else None,
        identifiers.phone_key(new_user.phone_number) if new_user.phone_number else None,
    )


def require_available(new_user: NewUser) -> None:
    """Raises `UserAlreadyExists`, `UsernameAlreadyExists` or `PhoneAlreadyInUse`."""
    _available_username(new_user, 0)


def _available_username(new_user: NewUser, attempt: int) -> str:
    """The username for the user, after checking that all requested identifiers are free."""
    username = new_user.username
    if not username and (length := host_fields.made_up_length()):
        # The host's model needs a username: the local part of the address, with a random suffix
        # after the first attempt.
        base = re.sub(r"[^A-Za-z0-9_.-]", "", new_user.email.partition("@")[0])[:length]
        username = base if len(base) >= 3 and not attempt else _with_suffix(base or "user")
    email_key, username_key, phone_key = _keys(new_user, username)
    keys = {"email": email_key, "username": username_key, "phone": phone_key}
    claimed = lookup.claimed_keys(**keys, name=username)
    faults: list[tuple[type[Fault], bool]] = [
        (errors.UserAlreadyExists, email_key in claimed),
        (errors.UsernameAlreadyExists, bool(new_user.username) and username_key in claimed),
        (errors.PhoneAlreadyInUse, phone_key in claimed),
    ]
    if core.signup_enumeration == "hide":
        # The address comes last: an error about another identifier must not depend on it.
        faults.append(faults.pop(0))
    for fault, is_taken in faults:
        if is_taken:
            raise fault
    return _with_suffix(username) if username_key in claimed else username


def require_not_taken(email: str, username: str) -> None:
    """Raises `UserAlreadyExists` or `UsernameAlreadyExists` if the host's table has the value
    in a unique column. Our accounts may not know it."""
    field = host().email
    if field and host().model._meta.get_field(field).unique and _is_stored(field, email):
        raise errors.UserAlreadyExists
    field = host().username
    if field and _is_stored(field, username):
        raise errors.UsernameAlreadyExists


def _is_stored(field: str, text: str) -> bool:
    """Whether a row of the host's table has the text in this field."""
    value = host_fields.lookup_value(field, text) if text else None
    rows = host().model._base_manager.using(databases.primary())
    return value is not None and rows.filter(**{field: value}).exists()


def _with_suffix(base: str) -> str:
    stem = base[: host_fields.made_up_length()]
    return f"{stem}-{secrets.token_hex(host_fields.SUFFIX // 2)}"


def may_create_account(method: str) -> bool:
    """Whether a new account may be created by this way to sign in, such as "signup", "magic-link",
    "oauth" or `INVITATION`."""
    return core.allow_signup or method == INVITATION
