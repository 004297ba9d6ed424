"""A person: the host's user and our account, read together.

For a field that the host's model has, the host's value is authoritative and ours an indexed copy.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from django.db.models import Model
from django.db.models.query_utils import DeferredAttribute

from authservice.core.models import Account
from authservice.core.users import identifiers
from authservice.core.users.user_model import host
from authservice.kernel import settings


class Person:
    """`user` is the host's row, `account` ours; each model instance is created on first access.

    Most requests need a few values, and creating an instance costs more than reading its row.
    """

    __slots__ = ("_account", "_row", "_user", "_using")

    def __init__(self, user: Any, account: Account | None) -> None:
        self._user = user
        self._account = account
        self._row: tuple[Any, ...] = ()
        self._using = ""

    @classmethod
    def of_row(cls, row: tuple[Any, ...], using: str) -> Person:
        person = cls(None, None)
        person._row, person._using = row, using
        return person

    @property
    def user(self) -> Any:
        if self._user is None:
            shape = _shape()
            values = self._row[: len(shape.user)]
            self._user = host().model.from_db(self._using, list(shape.user), values)
        return self._user

    @property
    def account(self) -> Account:
        if self._account is None:
            shape = _shape()
            values = self._row[len(shape.user) : len(shape.user) + len(shape.account)]
            self._account = Account.from_db(self._using, list(shape.account), values)
        return self._account

    def of_user(self, name: str) -> Any:
        """A value of the host's row, or None if its model has no such attribute."""
        if self._user is None:
            place = _shape().plain.get(name)
            if place is not None:
                return self._row[place]
        return getattr(self.user, name, None)

    def of_account(self, name: str) -> Any:
        """A value of our row."""
        if self._account is None:
            return self._row[_shape().account[name]]
        return getattr(self._account, name)

    @property
    def id(self) -> str:
        return str(self.of_user(host().key))

    @property
    def email(self) -> str:
        known = host().email
        return (self.of_user(known) or "") if known else self.of_account("email")

    @property
    def username(self) -> str:
        known = host().username
        return str(self.of_user(known) or "") if known else self.of_account("username")

    @property
    def first_name(self) -> str:
        known = host().first_name
        return (self.of_user(known) or "") if known else self.of_account("first_name")

    @property
    def last_name(self) -> str:
        known = host().last_name
        return (self.of_user(known) or "") if known else self.of_account("last_name")

    @property
    def active(self) -> bool:
        known = host().active
        return bool(self.of_user(known) if known else self.of_account("active"))

    @property
    def is_super_admin(self) -> bool:
        return bool(self.of_account("is_super_admin") or self.is_superuser)

    @property
    def is_superuser(self) -> bool:
        """Whether the user is a superuser of the host project."""
        return bool(self.of_user("is_superuser"))

    @property
    def password(self) -> str:
        """The current password hash."""
        return str(self.of_user("password"))

    @property
    def token_version(self) -> int:
        return int(self.of_account("token_version"))

    @property
    def device_version(self) -> int:
        return int(self.of_account("device_version"))

    @property
    def factor_version(self) -> int:
        return int(self.of_account("factor_version"))

    @property
    def email_key(self) -> str:
        """Key of the current address, even if other users claim it too."""
        return identifiers.email_key(self.email) if self.email else ""

    @property
    def phone_key(self) -> str:
        return self.of_account("phone_key") or ""

    @property
    def email_verified(self) -> bool:
        proven = self.of_account("verified_email_key")
        return bool(proven) and proven == self.email_key

    @property
    def email_proven(self) -> bool:
        """Whether the owner of the mailbox has proven the current address, and it was not marked as
        unverified since."""
        proven = self.of_account("proven_email_key")
        return self.email_verified and proven == self.email_key

    @property
    def phone_number_verified(self) -> bool:
        proven = self.of_account("verified_phone_key")
        return bool(proven) and proven == self.of_account("phone_key")

    @property
    def last_login_at(self) -> datetime | None:
        moment: datetime | None = self.of_user("last_login")
        return moment


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
    """The person in a row of `columns`."""
    return Person.of_row(row, using)


def width() -> int:
    """How many values of a row belong to the person."""
    shape = _shape()
    return len(shape.user) + len(shape.account)


@dataclass(frozen=True)
class _Shape:
    """The position of each value in a row. `plain` are the fields of the user whose column value
    equals the attribute of an instance."""

    user: dict[str, int]
    account: dict[str, int]
    plain: dict[str, int]


@cache
def _shape() -> _Shape:
    model = host().model
    user = {name: place for place, name in enumerate(_names(model))}
    account = {name: place for place, name in enumerate(_names(Account), start=len(user))}
    plain = {name: place for name, place in user.items() if _is_plain(model, name)}
    return _Shape(user, account, plain)


def _is_plain(model: Any, name: str) -> bool:
    """Whether an attribute equals its column value: a host's field may decrypt or wrap it."""
    unchanged = model.from_db.__func__ is Model.from_db.__func__  # type: ignore[attr-defined]
    return unchanged and type(inspect.getattr_static(model, name)) is DeferredAttribute


def _names(model: Any) -> list[str]:
    fields: Iterable[Any] = model._meta.concrete_fields
    return [field.attname for field in fields]


@settings.on_host_change
def _forget() -> None:
    _shape.cache_clear()
