"""Where users and links are stored: in the database, or in classes of the host project.

`OAUTH.CORE_STORAGE` and `OAUTH.OAUTH_STORAGE` are dotted paths of classes that have the methods of
`UserStorage` and `LinkStorage` and take no arguments. The rules of this module read and write users
and links through them alone. `OAUTH.SESSION_STORAGE` is a store of sessions, see
`authservice.kernel.interfaces.SessionStore`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol, TypeVar, cast

from django.db import DatabaseError, IntegrityError, transaction

from authservice.core.credentials import passwords
from authservice.core.users import creation, lookup
from authservice.core.users.creation import NewUser
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, secret, settings
from authservice.oauth.conf import conf
from authservice.oauth.models import LinkedAccount

T = TypeVar("T")


class LinkTaken(Exception):
    """The user of the provider is linked already, or the account to another one of the provider."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """A user of a provider who is linked to an account; see `LinkedAccount` for the fields."""

    user_id: Any
    provider: str
    subject: str
    email: str
    at_signup: bool
    added_at: datetime
    sealed_tokens: str = ""


class UserStorage(Protocol):
    """Finds and creates the users who log in with a provider."""

    def find(self, user_id: Any) -> Person | None:
        """The user with this primary key."""

    def find_by_email(self, email: str) -> Person | None:
        """The user with this address, in any equivalent spelling."""

    def lock(self, user_id: Any) -> Person | None:
        """The user as they are now, locked until the transaction ends."""

    def create(self, new_user: NewUser, then: Callable[[Person], T]) -> T:
        """Create a user without a password and return the result of `then`, which runs in the same
        transaction. Raises `UserAlreadyExists`."""


class LinkStorage(Protocol):
    """Stores links. Writes take part in the transaction of the caller."""

    def find(self, provider: str, subject: str) -> Link | None:
        """The link of this user of the provider. Subjects are compared exactly."""

    def of_user(self, user_id: Any) -> list[Link]:
        """All links of an account, in the order in which they were added."""

    def add(self, link: Link) -> None:
        """Store a link. Raises `LinkTaken` if the user of the provider is linked already, or the
        account to another one of the same provider; of concurrent calls one succeeds."""

    def remove(self, link: Link) -> bool:
        """Delete a link; False if it is gone already."""

    def store_tokens(self, link: Link, sealed: str) -> bool:
        """Replace the encrypted tokens of a link; False if it is gone."""


class DatabaseUsers:
    """The users of the host project, with their accounts."""

    def find(self, user_id: Any) -> Person | None:
        return lookup.find_by_pk(user_id)

    def find_by_email(self, email: str) -> Person | None:
        return lookup.find_by_email(email)

    def lock(self, user_id: Any) -> Person | None:
        passwords.lock_users([user_id])
        return lookup.find_by_pk(user_id)

    @clock.once
    def create(self, new_user: NewUser, then: Callable[[Person], T]) -> T:
        try:
            return creation.create_user(new_user, creation.unusable(), then)
        except DatabaseError as error:
            if not databases.is_of_charset(error):
                raise
        # The user cannot correct a name that the provider has sent, so it is written in ASCII,
        # which every column can store.
        names = {name: getattr(new_user, name) for name in ("name", "first_name", "last_name")}
        plain: dict[str, Any] = {
            name: unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().strip()
            for name, text in names.items()
        }
        return creation.create_user(replace(new_user, **plain), creation.unusable(), then)


class DatabaseLinks:
    """Links in the table `LinkedAccount`; its constraints settle races."""

    def find(self, provider: str, subject: str) -> Link | None:
        rows = LinkedAccount.objects.filter(provider=provider, subject_key=subject_key(subject))
        row = rows.first()
        return of_row(row) if row else None

    def of_user(self, user_id: Any) -> list[Link]:
        rows = LinkedAccount.objects.filter(user=user_id).order_by("id")
        return [of_row(row) for row in rows]

    def add(self, link: Link) -> None:
        using = databases.primary()
        try:
            with transaction.atomic(using=using):
                to_row(link).save(using=using, force_insert=True)
        except IntegrityError as error:
            raise LinkTaken from error

    def remove(self, link: Link) -> bool:
        return bool(_rows(link).delete()[0])

    def store_tokens(self, link: Link, sealed: str) -> bool:
        return bool(_rows(link).update(sealed_tokens=sealed))


@settings.cached
def users() -> UserStorage:
    """The storage that `OAUTH.CORE_STORAGE` names."""
    built_in = f"{__name__}.DatabaseUsers"
    return cast(UserStorage, settings.pluggable(conf.core_storage or built_in, {})())


@settings.cached
def links() -> LinkStorage:
    """The storage that `OAUTH.OAUTH_STORAGE` names."""
    built_in = f"{__name__}.DatabaseLinks"
    return cast(LinkStorage, settings.pluggable(conf.oauth_storage or built_in, {})())


def _rows(link: Link) -> Any:
    return LinkedAccount.objects.filter(
        user=link.user_id, provider=link.provider, subject_key=subject_key(link.subject)
    )


def subject_key(subject: str) -> str:
    """The digest by which a subject is found, see `LinkedAccount`."""
    return secret.fingerprint(f"subject:{subject}")


def to_row(link: Link) -> LinkedAccount:
    """An unsaved row of a link."""
    return LinkedAccount(
        user_id=link.user_id,
        provider=link.provider,
        subject=link.subject,
        subject_key=subject_key(link.subject),
        email=link.email,
        at_signup=link.at_signup,
        added_at=link.added_at,
        sealed_tokens=link.sealed_tokens,
    )


def of_row(row: LinkedAccount) -> Link:
    """The link in a row."""
    return Link(
        user_id=row.user_id,
        provider=row.provider,
        subject=row.subject,
        email=row.email,
        at_signup=row.at_signup,
        added_at=row.added_at,
        sealed_tokens=row.sealed_tokens,
    )
