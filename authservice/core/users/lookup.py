"""Finds users, and keeps our copies of identifiers equal to the host's user table.

The host project may change an address without any signal: by `.update()`, in bulk or in its own
admin. Every look-up therefore compares the user's address with the key by which the user was
found, and updates the copy. If two users claim the same key, the current holder keeps the key, and
nobody else gets it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DatabaseError, IntegrityError, connections, transaction
from django.db.models import Case, CharField, F, Q, QuerySet, Value, When

from authservice.core.models import Account, AddressReservation
from authservice.core.users import host_fields, identifiers
from authservice.core.users import person as people
from authservice.core.users.identifiers import EMAIL, PHONE, USERNAME, Identifier
from authservice.core.users.person import Person, email_of, username_of
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, errors
from authservice.kernel.interfaces import SecondFactor
from authservice.kernel.modules import plugs
from authservice.kernel.sql import Select, param

logger = logging.getLogger("authservice.accounts")

COPIES = [name for kind in (EMAIL, USERNAME) for name in (kind.text, kind.claim, kind.unique)]


def find_by_email(email: str) -> Person | None:
    return _find(EMAIL, email)


def find_by_username(username: str) -> Person | None:
    return _find(USERNAME, username)


def find_by_phone(phone: str) -> Person | None:
    """The user whose account has verified the number. If none has, the user of the only account
    with this number."""
    using = databases.primary()
    rows = _BY_PHONE.all(using, value=PHONE.key(phone))
    persons = [people.read(row, using) for row in rows]
    if not persons or (len(persons) > 1 and not persons[0].phone_number_verified):
        return None
    return refresh_copies(persons[0])


def find_by_pk(pk: Any) -> Person | None:
    """The user with this primary key."""
    using = databases.primary()
    row = _by("user", "", ()).first(using, value=pk)
    return refresh_copies(people.read(row, using)) if row else None


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


def _find(kind: Identifier, typed: str) -> Person | None:
    """The user whom the key finds, or the user whose natural key is exactly `typed`.

    The latter may have no account, or not hold the key because another user claims it too. If the
    holder of an address has verified it, every spelling of the address finds the holder.
    """
    key = kind.key(typed)
    columns = tuple(name for factor in plugs(SecondFactor) for name in factor.columns())
    by_key = finder = _by(kind.unique, "", columns)
    is_natural = getattr(host(), kind.text, "") == host().natural
    natural_value = None
    if is_natural:
        # A text that the natural key cannot hold finds nobody, such as "bob" if it is a number.
        natural_value = host_fields.lookup_value(host().natural, typed)
        finder = by_key if natural_value is None else _by(kind.unique, kind.text, columns)
    using = databases.primary()
    try:
        rows = finder.all(using, value=key, typed=natural_value)
    except DatabaseError as error:
        if not databases.is_of_charset(error):
            raise
        # No natural key has these characters.
        rows = by_key.all(using, value=key)
    persons = [people.read(row, using) for row in rows]
    for person, row in zip(persons, rows, strict=True):
        person.gate_values = dict(zip(columns, row[people.width() :], strict=True))
    holder = _holder(persons, kind, key)
    exact_match = None
    if is_natural:
        exact_match = next(
            (person for person in persons if getattr(person, kind.text) == typed), None
        )
    if exact_match is None:
        return holder
    if holder and (holder.id == exact_match.id or (kind is EMAIL and holder.email_verified)):
        return holder
    return get_person(exact_match.user)


def _holder(persons: Collection[Person], kind: Identifier, key: str) -> Person | None:
    """The user who has the key, and keeps it when the copies are refreshed from the host's row."""
    for person in persons:
        if getattr(person.account_row, kind.unique) == key:
            current = refresh_copies(person)
            if getattr(current.account_row, kind.unique) == key:
                return current
    return None


def is_available(field: str, value: str) -> bool:
    """Whether no user has the identifier. Raises `ValidationFailed` for a value that no new user
    may have."""
    kind, find = _KINDS[field]
    if not kind.accepts(value):
        rule = identifiers.username_rule() if kind is identifiers.USERNAME else kind.rule
        raise errors.invalid(field, rule)
    if kind is identifiers.EMAIL and not identifiers.is_new_email(value):
        raise errors.invalid(field, identifiers.NEW_EMAIL_RULE)
    keys: dict[str, str | None] = dict.fromkeys(_KINDS)
    keys[field] = kind.key(value)
    # Claims come first. `find` also finds users without an account, by the host's natural key.
    name = value if kind is identifiers.USERNAME else ""
    return not claimed_keys(**keys, name=name) and find(value) is None


def _find_verified(phone: str) -> Person | None:
    """The user who has verified the number: it is not taken until an account has verified it."""
    person = find_by_phone(phone)
    return person if person and person.phone_number_verified else None


_KINDS: Mapping[str, tuple[Identifier, Callable[[str], Person | None]]] = {
    "email": (identifiers.EMAIL, find_by_email),
    "username": (identifiers.USERNAME, find_by_username),
    "phone": (identifiers.PHONE, _find_verified),
}


def claimed_keys(
    *,
    email: str | None,
    username: str | None,
    phone: str | None,
    name: str = "",
    but_of: Any = None,
) -> set[str]:
    """Those of the three keys that a user other than `but_of` (a primary key) claims, contested or
    not, or that are reserved for such a user. Takes one query. `name` is the username whose key is
    `username`: with it, users who have no account yet are found too."""
    can_hold = bool(name) and host_fields.lookup_value(host().natural, name) is not None
    rows = _CLAIMED.all(
        databases.primary(),
        email=email,
        username=username,
        phone=phone,
        now=clock.now(),
        **_spellings(name if can_hold else ""),
    )
    claimed = {key for row in rows if row[-1] != but_of for key in row[:-1]}
    return {key for key in (email, username, phone) if key and key in claimed}


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


@cache
def _by(field: str, natural: str, factor_columns: tuple[str, ...]) -> Select:
    """Users by a field of the account, with the columns that second factors ask for.

    If the identifier is also the natural key of the host's model (`USERNAME_FIELD`), the same
    statement finds users without an account by a UNION with the host's table. The columns of the
    factors follow those of the person.
    """

    def build() -> QuerySet[Any, Any]:
        accounts = Account.objects.filter(**{field: param("value", Account, field)}).order_by()
        for_factors = [f"user__{name}" for name in factor_columns]
        rows = accounts.values_list(*people.columns(user="user__", account=""), *for_factors)
        names = host()
        if not natural or getattr(names, natural) != names.natural:
            return rows
        typed = param("typed", names.model, names.natural)
        users = names.model._base_manager.filter(**{names.natural: typed}).order_by()
        columns = people.columns(user="", account="authservice_account__")
        return rows.union(users.values_list(*columns, *factor_columns), all=True)

    return Select(build)


def _by_phone() -> QuerySet[Any, Any]:
    """The first two accounts with the number, beginning with the one that has verified it. If none
    has, the second row shows that the number belongs to several accounts."""
    verified = Case(When(verified_phone_key=F("phone_key"), then=0), default=1)
    rows = Account.objects.filter(phone_key=param("value", Account, "phone_key"))
    rows = rows.order_by(verified)
    return rows.values_list(*people.columns(user="user__", account=""))[:2]


_BY_PHONE = Select(_by_phone)


def _claims() -> QuerySet[Any, Any]:
    """Keys that users claim, former addresses that are reserved for their users, and usernames of
    users without an account; each with its user.

    One statement, so that an address which leaves an account at this moment is found in one of the
    two places.
    """
    claimed = Account.objects.filter(
        Q(email_claim=param("email", Account, "email_key"))
        | Q(username_claim=param("username", Account, "username_key"))
        | Q(verified_phone_key=param("phone", Account, "verified_phone_key"))
    )
    reserved = AddressReservation.objects.filter(
        email_key=param("email", AddressReservation, "email_key"),
        expires_at__gt=param("now", AddressReservation, "expires_at"),
    )
    keys = claimed.order_by().values_list(
        "email_claim", "username_claim", "verified_phone_key", "user"
    )
    nothing = Value("", CharField())
    former = reserved.order_by().values_list("email_key", Value("", CharField()), nothing, "user")

    model, natural = host().model, host().natural
    # Users without an account are found by their natural key only.
    if host().username != natural or not host_fields.is_text(natural):
        return keys.union(former, all=True)
    # Not `iexact`: the host's table has no index for it, so each sign-up would read all of it. The
    # key is selected instead of the name: on MySQL and MariaDB the host's table may have another
    # collation than ours, and a UNION of both fails.
    names = [param(name, model, natural) for name in _spellings("")]
    users = model._base_manager.filter(authservice_account=None, **{f"{natural}__in": names})
    key = param("username", Account, "username_key")
    without_account = users.order_by().values_list(Value(""), key, Value(""), "pk")
    return keys.union(former, without_account, all=True)


def _spellings(name: str) -> dict[str, str]:
    return {"typed": name, "lower": name.lower(), "upper": name.upper(), "title": name.capitalize()}


_CLAIMED = Select(_claims)
