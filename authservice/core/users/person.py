"""A person: the host's user and our account, read together.

For a field that the host's model has, the host's value is authoritative and ours an indexed copy.

The host project may change an address without any signal: by `.update()`, in bulk or in its own
admin. `refresh_copies` updates the copies of a person who was read. If two users claim the same
key, the current holder keeps it, and nobody else gets it.
"""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Model
from django.db.models.query_utils import DeferredAttribute
from django.utils.functional import cached_property
from django.utils.module_loading import import_string

from authservice.core.models import Account
from authservice.core.users import identifiers, user_model
from authservice.core.users.identifiers import EMAIL, USERNAME, Identifier
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, settings
from authservice.kernel.rules import EVERYONE, SUPER_ADMINS

# Attributes of Django's base classes that `Person` reads.
_OF_DJANGO = ("is_superuser", "password", "last_login")
_NONE: Mapping[str, Any] = {}


def _value(path: str) -> Any:
    """A property that is a value of a row as it is stored. Its getter is in C: every request reads
    some of them."""
    return property(attrgetter(path))


class Person:
    """`user` is the host's row, `account` ours; each model instance is created on first access.

    Most requests need a few values, and creating an instance costs more than reading its row. Until
    there is an instance, `_user_row` and `account_row` are rows whose values are read by name.
    Afterwards they are the instances themselves, so a value that is assigned to one is seen at
    once.
    """

    password: str = _value("_user_row.password")
    """The current password hash."""
    token_version: int = _value("account_row.token_version")
    device_version: int = _value("account_row.device_version")
    factor_version: int = _value("account_row.factor_version")

    def __init__(self, user: Any, account: Any, using: str = "") -> None:
        self._user_row = user
        self.account_row = account
        self._using = using
        # The values of `SecondFactor.columns`, if they were read with the user.
        self.gate_values: Mapping[str, Any] = _NONE

    @cached_property
    def user(self) -> Any:
        if isinstance(self._user_row, tuple):
            self._user_row = _user_of(self._user_row, self._using)
        return self._user_row

    def copied(self) -> Person | None:
        """The same rows in an object of its own; None if there is an instance already."""
        if not (isinstance(self._user_row, tuple) and isinstance(self.account_row, tuple)):
            return None
        return copy.copy(self)

    @cached_property
    def account(self) -> Account:
        if isinstance(self.account_row, tuple):
            shape = _shape()
            values = self.account_row[len(shape.user) : shape.width]
            self.account_row = Account.from_db(self._using, shape.account, values)
        account: Account = self.account_row
        return account

    @property
    def id(self) -> str:
        return str(getattr(self._user_row, host().key))

    @property
    def email(self) -> str:
        column = host().email
        return (getattr(self._user_row, column) or "") if column else self.account_row.email

    @property
    def username(self) -> str:
        column = host().username
        return str(getattr(self._user_row, column) or "") if column else self.account_row.username

    @property
    def first_name(self) -> str:
        column = host().first_name
        return (getattr(self._user_row, column) or "") if column else self.account_row.first_name

    @property
    def last_name(self) -> str:
        column = host().last_name
        return (getattr(self._user_row, column) or "") if column else self.account_row.last_name

    @property
    def active(self) -> bool:
        """By the host's column; without one, both our flag and the host's model must say so."""
        column = host().active
        if column:
            return bool(getattr(self._user_row, column))
        return bool(self.account_row.active) and user_model.grants(self.user, "is_active")

    @property
    def is_super_admin(self) -> bool:
        return bool(self.account_row.is_super_admin or self.is_superuser)

    @property
    def is_superuser(self) -> bool:
        """Whether the user is a superuser of the host project."""
        column = host().superuser
        if column:
            return bool(getattr(self._user_row, column))
        return user_model.grants(self.user, "is_superuser")

    @property
    def is_staff(self) -> bool:
        """Whether the user may be staff of the host project: true if its model cannot say."""
        return user_model.may_have(self.user, "is_staff")

    @property
    def has_rights(self) -> bool:
        """Whether the user may have rights over other users: staff, superusers, super admins."""
        may_be_superuser = user_model.may_have(self.user, "is_superuser")
        return self.is_super_admin or self.is_staff or may_be_superuser

    @property
    def email_key(self) -> str:
        """Key of the current address, even if other users claim it too."""
        email = self.email
        return identifiers.email_key(email) if email else ""

    @property
    def phone_key(self) -> str:
        return self.account_row.phone_key or ""

    @property
    def email_verified(self) -> bool:
        verified = self.account_row.verified_email_key
        return bool(verified) and verified == self.email_key

    @property
    def email_proven(self) -> bool:
        """Whether the owner of the mailbox has proven the current address, and it was not marked as
        unverified since."""
        key = self.email_key
        row = self.account_row
        return bool(key) and row.verified_email_key == key and row.proven_email_key == key

    @property
    def phone_number_verified(self) -> bool:
        verified = self.account_row.verified_phone_key
        return bool(verified) and verified == self.account_row.phone_key

    @property
    def last_login_at(self) -> datetime | None:
        moment: datetime | None = getattr(self._user_row, "last_login", None)
        return moment


def allows(setting: str, person: Person) -> bool:
    """Whether a setting that says which users may do something allows it to this user: everyone,
    super admins, or those for whom a function of the project returns true."""
    if setting == EVERYONE:
        return True
    if setting == SUPER_ADMINS:
        return person.is_super_admin
    return bool(import_string(setting)(person.user))


def email_of(user: Any) -> str:
    return (getattr(user, host().email) or "") if host().email else ""


def username_of(user: Any) -> str:
    return str(getattr(user, host().username) or "") if host().username else ""


def columns(*, user: str, account: str) -> list[str]:
    """Look-ups of all fields of both rows with the given prefixes, in the order that `read`
    expects."""
    shape = _shape()
    return [user + name for name in shape.user] + [account + name for name in shape.account]


def read(row: tuple[Any, ...], using: str) -> Person:
    """The person in a row of `columns`; further values at its end are ignored."""
    shape = _shape()
    user = shape.user_row(row) if shape.plain else _user_of(row, using)
    return Person(user, shape.account_row(row), using)


def width() -> int:
    """How many values of a row belong to the person."""
    return _shape().width


@dataclass(frozen=True)
class _Shape:
    """The names of the values in a row, and the classes that read them by name. `plain` is true if
    each value of the user's row that `Person` reads is what an instance has as its attribute."""

    user: list[str]
    account: list[str]
    width: int
    user_row: type[Any]
    account_row: type[Any]
    plain: bool


@settings.cached_for_host
def _shape() -> _Shape:
    fields = host()
    user_names = _names(host().model)
    account_names = _names(Account)
    # The host's model may change a value when it is read: a field may decrypt or wrap it, and a
    # property may take the place of a column.
    names = (fields.key, fields.email, fields.username, fields.first_name, fields.last_name)
    read_names = [
        name for name in (*names, fields.active, *_OF_DJANGO) if hasattr(fields.model, name)
    ]
    attributes = [inspect.getattr_static(fields.model, name) for name in read_names]
    unchanged = fields.model.from_db.__func__ is Model.from_db.__func__  # type: ignore[attr-defined]
    return _Shape(
        user=user_names,
        account=account_names,
        width=len(user_names) + len(account_names),
        user_row=_row_class(user_names, start=0),
        account_row=_row_class(account_names, start=len(user_names)),
        plain=unchanged and all(type(attribute) is DeferredAttribute for attribute in attributes),
    )


def _row_class(names: list[str], *, start: int) -> type[Any]:
    """A tuple whose values have names. Not a named tuple, which refuses some names that a field of
    the host may have."""
    places = enumerate(names, start)
    return type("Row", (tuple,), {name: property(itemgetter(place)) for place, name in places})


def _user_of(row: tuple[Any, ...], using: str) -> Any:
    names = _shape().user
    return host().model.from_db(using, names, row[: len(names)])


def _names(model: Any) -> list[str]:
    fields: Iterable[Any] = model._meta.concrete_fields
    return [field.attname for field in fields]


logger = logging.getLogger("authservice.accounts")

COPIES = [name for kind in (EMAIL, USERNAME) for name in (kind.text, kind.claim, kind.unique)]


def create_account(user: Any) -> Account:
    """Create the account of a user whom the host project created, without contested keys."""
    account = unsaved_account(user, copies(user))
    _drop_contested(account)
    for _ in _clear_keys(account):
        Account.objects.bulk_create([account], ignore_conflicts=True)
        if stored := Account.objects.filter(user=user.pk).first():
            return stored
    Account.objects.bulk_create([account], ignore_conflicts=True)
    return Account.objects.get(user=user.pk)


def unsaved_account(user: Any, copied: dict[str, Any]) -> Account:
    """An unsaved account of a user whom the host project created."""
    joined = getattr(user, host().joined) if host().joined else None
    return Account(user=user, created_at=joined or clock.now(), **copied)


def sync_account(person: Person) -> None:
    """Update the account's copies from the host's row."""
    account, using = person.account, databases.primary()
    own_keys = {account.email_key, account.username_key}
    for name, value in copies(person.user).items():
        setattr(account, name, value)
    _drop_contested(account, own_keys=own_keys)
    for _ in _clear_keys(account):
        with suppress(IntegrityError), transaction.atomic(using=using):
            account.save(using=using, update_fields=COPIES)
            return
    account.save(using=using, update_fields=COPIES)


def refresh_copies(person: Person) -> Person:
    """The person, with the copies updated if they differ from the host's row."""
    names = host()
    # The columns of the copies have 254 characters.
    if (names.email and person.email[:254] != person.account_row.email) or (
        names.username and person.username[:254] != person.account_row.username
    ):
        sync_account(person)
    return person


def copies(user: Any) -> dict[str, Any]:
    """The values that the account copies from the host's row, with claims and keys."""
    email = _copies(EMAIL, email_of(user)) if host().email else {}
    username = _copies(USERNAME, username_of(user)) if host().username else {}
    return {**email, **username}


def _copies(kind: Identifier, text: str) -> dict[str, Any]:
    text = text[:254]
    claim = kind.key(text) if text else ""
    return {kind.text: text, kind.claim: claim, kind.unique: claim or None}


def _drop_contested(account: Account, *, own_keys: Collection[str | None] = ()) -> None:
    """Set keys to None that other users claim too, except those that the account holds already."""
    other_accounts = Account.objects.exclude(user=account.user_id)
    for kind in (EMAIL, USERNAME):
        claim = getattr(account, kind.claim)
        if (
            claim
            and claim not in own_keys
            and other_accounts.filter(**{kind.claim: claim}).exists()
        ):
            logger.warning("User %s has the same %s as another user", account.user_id, kind.text)
            setattr(account, kind.unique, None)


def _clear_keys(account: Account) -> Iterator[None]:
    """Set the keys for one attempt after another to store them: both keys, then each without the
    other. After the last attempt both are None. A concurrent transaction may take a key after
    `_drop_contested`, and the account must keep its other key."""
    email, name = account.email_key, account.username_key
    for account.email_key, account.username_key in ((email, name), (email, None), (None, name)):
        yield
    account.email_key = account.username_key = None
