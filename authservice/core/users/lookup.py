"""Finds users, and keeps our copies of identifiers equal to the host's user table.

The host project may change an address without any signal: by `.update()`, in bulk or in its own
admin. Every look-up therefore compares the user's address with the key it was found by, and updates
the copy. If two users claim the same key, the current holder keeps it; nobody else is assigned it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, connections, transaction
from django.db.models import CharField, Q, QuerySet
from django.utils import timezone

from authservice.core.models import Account, OneTimeToken
from authservice.core.users import person as people
from authservice.core.users import reservations
from authservice.core.users.identifiers import EMAIL, PHONE, USERNAME, Identifier
from authservice.core.users.person import Person, email_of, username_of
from authservice.core.users.user_model import host
from authservice.kernel import databases
from authservice.kernel.modules import plugs
from authservice.kernel.sql import Select, param

logger = logging.getLogger("authservice.accounts")

COPIES = [name for kind in (EMAIL, USERNAME) for name in (kind.text, kind.claim, kind.unique)]


def _by(field: str, natural: str = "") -> Select:
    """Users by a field of the account.

    If the identifier is also the natural key of the host's model (`USERNAME_FIELD`), the same
    statement finds users without an account by a UNION with the host's table. The values of
    `gate_columns` follow those of the person.
    """

    def build() -> QuerySet[Any, Any]:
        ours = Account.objects.filter(**{field: param("value", Account, field)}).order_by()
        for_gates = [f"user__{name}" for name in _gate_columns()]
        rows = ours.values_list(*people.columns(user="user__", account=""), *for_gates)
        known = host()
        if not natural or getattr(known, natural) != known.natural:
            return rows
        typed = param("typed", known.model, known.natural)
        theirs = known.model._base_manager.filter(**{known.natural: typed}).order_by()
        columns = people.columns(user="", account="authservice_account__")
        return rows.union(theirs.values_list(*columns, *_gate_columns()), all=True)

    return Select(build)


_FINDERS = {
    "user": _by("user"),
    "email_key": _by("email_key", "email"),
    "username_key": _by("username_key", "username"),
    "phone_key": _by("phone_key"),
}


def _gate_columns() -> list[str]:
    return [name for columns in plugs("gate_columns") for name in columns()]


def _claims() -> QuerySet[Any, Any]:
    """Keys that users claim, former addresses that are reserved for theirs, and usernames of users
    without an account; each with the user.

    One statement, so that an address which leaves an account at this moment is found in one of the
    two places.
    """
    claimed = Account.objects.filter(
        Q(email_claim=param("email", Account, "email_key"))
        | Q(username_claim=param("username", Account, "username_key"))
        | Q(phone_key=param("phone", Account, "phone_key"))
    )
    reserved = OneTimeToken.objects.filter(
        purpose=param("purpose", OneTimeToken),
        target_key=param("email", OneTimeToken, "target_key"),
        expires_at__gt=param("now", OneTimeToken, "expires_at"),
    )
    keys = claimed.order_by().values_list("email_claim", "username_claim", "phone_key", "user")
    former = reserved.order_by().values_list("target_key", "target_key", "target_key", "user")
    return keys.union(former, *_names_without_account(), all=True)


def _names_without_account() -> list[QuerySet[Any, Any]]:
    """Not `iexact`: the host's table has no index for it, so each sign-up would read all of it."""
    model, natural = host().model, host().natural
    # Users without an account are found by their natural key only.
    if host().username != natural or not isinstance(model._meta.get_field(natural), CharField):
        return []
    names = [param(name, model, natural) for name in _spellings("")]
    rows = model._base_manager.filter(authservice_account=None, **{f"{natural}__in": names})
    return [rows.order_by().values_list(natural, natural, natural, "pk")]


def _spellings(name: str) -> dict[str, str]:
    return {"typed": name, "lower": name.lower(), "upper": name.upper(), "title": name.capitalize()}


_CLAIMED = Select(_claims)


def find_by_email(email: str) -> Person | None:
    return _find(EMAIL, email)


def find_by_username(username: str) -> Person | None:
    return _find(USERNAME, username)


def find_by_phone(phone: str) -> Person | None:
    return _find(PHONE, phone)


def find_by_pk(pk: Any) -> Person | None:
    """The user with this primary key."""
    row = _FINDERS["user"].first(databases.primary(), value=pk)
    return refresh_copies(people.read(row, databases.primary())) if row else None


def find_by_id(text: str) -> Person | None:
    """The user with this id of the API. A user who has no account yet gets one."""
    pk = parse_id(text)
    return None if pk is None else find_or_create(pk)


def find_or_create(pk: Any) -> Person | None:
    """The user with this primary key. A user who has no account yet gets one."""
    if person := find_by_pk(pk):
        return person
    user = host().model._base_manager.using(databases.primary()).filter(pk=pk).first()
    return Person(user, create_account(user)) if user else None


def parse_id(text: str) -> Any:
    """The primary key that an id of the API names; None if no user can have this id."""
    key = host().model._meta.pk
    try:
        pk = key.to_python(text)
        key.run_validators(pk)
        # On MySQL and MariaDB, Django raises ValueError for the key 0.
        key.get_db_prep_value(pk, connections[databases.primary()])
    except (ValidationError, ValueError):
        return None
    return pk if str(pk) == text else None  # "007" is not the id of the user 7


def get_person(user: Any) -> Person:
    """The person of a user row that the host project or its authentication backend provides."""
    return find_by_pk(user.pk) or Person(user, create_account(user))


def claimed_keys(
    *,
    email: str | None,
    username: str | None,
    phone: str | None,
    name: str = "",
    but_of: Any = None,
) -> set[str]:
    """The keys among these that a user other than `but_of` (a primary key) claims, contested or
    not, or that are reserved for one, in one query. `name` is the username of the key: with it,
    users who have no account yet are found too."""
    rows = _CLAIMED.all(
        databases.primary(),
        email=email,
        username=username,
        phone=phone,
        purpose=reservations.PURPOSE,
        now=timezone.now(),
        **_spellings(name),
    )
    others = [row[:-1] for row in rows if row[-1] != but_of]
    claimed = {key for row in others for key in row}
    if name and any(row[0].casefold() == name.casefold() for row in others):
        claimed.add(username)  # of a user without an account: the row has the name
    return {key for key in (email, username, phone) if key and key in claimed}


def unsaved_account(user: Any, copied: dict[str, Any]) -> Account:
    """An unsaved account of a user whom the host project created."""
    joined = getattr(user, host().joined) if host().joined else None
    return Account(user=user, created_at=joined or timezone.now(), **copied)


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


def sync_account(person: Person) -> None:
    """Update the account's copies from the host's row."""
    account, using = person.account, databases.primary()
    held = {account.email_key, account.username_key}
    for name, value in copies(person.user).items():
        setattr(account, name, value)
    _drop_contested(account, held=held)
    for _ in _clear_keys(account):
        with suppress(IntegrityError), transaction.atomic(using=using):
            account.save(using=using, update_fields=COPIES)
            return
    account.save(using=using, update_fields=COPIES)


def refresh_copies(person: Person) -> Person:
    """The person, with the copies updated if they differ from the host's row."""
    known = host()
    if (known.email and person.email[:254] != person.ours.email) or (
        known.username and person.username[:254] != person.ours.username
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


def _find(kind: Identifier, typed: str) -> Person | None:
    """The user whom the key finds, or the user whose natural key is exactly `typed`.

    The second may have no account, or not hold the key because another user claims it too. An
    address that its holder has verified is the holder's in every spelling.
    """
    key = kind.key(typed)
    rows = _FINDERS[kind.unique].all(databases.primary(), value=key, typed=typed)
    found = [people.read(row, databases.primary()) for row in rows]
    for person, row in zip(found, rows, strict=True):
        person.gate_values = dict(zip(_gate_columns(), row[people.width() :], strict=True))
    holder, named = _holder(found, kind, key), _named(found, kind, typed)
    if named is None:
        return holder
    if holder and (holder.id == named.id or (kind is EMAIL and holder.email_verified)):
        return holder
    return get_person(named.user)


def _holder(found: Collection[Person], kind: Identifier, key: str) -> Person | None:
    for person in found:
        if getattr(person.ours, kind.unique) == key:
            current = refresh_copies(person)
            if getattr(current.ours, kind.unique) == key:
                return current
    return None


def _named(found: Collection[Person], kind: Identifier, typed: str) -> Person | None:
    if getattr(host(), kind.text, "") != host().natural:
        return None
    return next((person for person in found if getattr(person, kind.text) == typed), None)


def _drop_contested(account: Account, *, held: Collection[str | None] = ()) -> None:
    """Set keys to None that other users claim too, except those that the account holds already."""
    others = Account.objects.exclude(user=account.user_id)
    for kind in (EMAIL, USERNAME):
        claim = getattr(account, kind.claim)
        if claim and claim not in held and others.filter(**{kind.claim: claim}).exists():
            logger.warning("User %s has the same %s as another user", account.user_id, kind.text)
            setattr(account, kind.unique, None)


def _clear_keys(account: Account) -> Iterator[None]:
    """Clear no key, then each key alone, then both. A concurrent transaction may take a key after
    `_drop_contested`, and the account must keep its other key."""
    email, name = account.email_key, account.username_key
    for account.email_key, account.username_key in ((email, name), (email, None), (None, name)):
        yield
    account.email_key = account.username_key = None
