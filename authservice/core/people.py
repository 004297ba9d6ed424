"""A person: the host's user and our account, read together.

Where the host's model has a field, the host's value is the truth and ours an indexed copy.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from authservice.core import identity
from authservice.core.host import host
from authservice.core.models import Account


class Person:
    """`user` is the host's row, `account` ours."""

    __slots__ = ("account", "user")

    def __init__(self, user: Any, account: Account) -> None:
        self.user = user
        self.account = account

    @property
    def id(self) -> str:
        return str(self.user.pk)

    @property
    def email(self) -> str:
        return email_of(self.user) if host().email else self.account.email

    @property
    def username(self) -> str:
        return username_of(self.user) if host().username else self.account.username

    @property
    def first_name(self) -> str:
        return self.user.first_name or "" if host().first_name else self.account.first_name

    @property
    def last_name(self) -> str:
        return self.user.last_name or "" if host().last_name else self.account.last_name

    @property
    def active(self) -> bool:
        return bool(self.user.is_active) if host().active else self.account.active

    @property
    def is_super_admin(self) -> bool:
        return self.account.is_super_admin or bool(getattr(self.user, "is_superuser", False))

    @property
    def email_key(self) -> str:
        """Key of the present address, whoever else may claim it."""
        return identity.email_key(self.email) if self.email else ""

    @property
    def phone_key(self) -> str:
        return self.account.phone_key or ""

    @property
    def email_verified(self) -> bool:
        proven = self.account.verified_email_key
        return bool(proven) and proven == self.email_key

    @property
    def phone_number_verified(self) -> bool:
        proven = self.account.verified_phone_key
        return bool(proven) and proven == self.account.phone_key

    @property
    def last_login_at(self) -> datetime | None:
        moment: datetime | None = getattr(self.user, "last_login", None)
        return moment


def email_of(user: Any) -> str:
    return (getattr(user, host().email) or "") if host().email else ""


def username_of(user: Any) -> str:
    return str(getattr(user, host().username) or "") if host().username else ""


def columns(*, user: str, account: str) -> list[str]:
    """Look-ups of all fields of both rows, under the given prefixes, in the order of `read`."""
    return [user + name for name in _names(host().model)] + [
        account + name for name in _names(Account)
    ]


def read(row: tuple[Any, ...], using: str) -> Person:
    """The person in a row of `columns`."""
    model = host().model
    users, accounts = _names(model), _names(Account)
    edge = len(users)
    return Person(
        model.from_db(using, users, row[:edge]),
        Account.from_db(using, accounts, row[edge : edge + len(accounts)]),
    )


def width() -> int:
    """How many values of a row belong to the person."""
    return len(_names(host().model)) + len(_names(Account))


def _names(model: Any) -> list[str]:
    fields: Iterable[Any] = model._meta.concrete_fields
    return [field.attname for field in fields]
