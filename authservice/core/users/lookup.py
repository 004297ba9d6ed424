"""Finds users, and keeps our copies of identifiers equal to the host's user table.

The host project may change an address without any signal: by `.update()`, in bulk or in its own
admin. Every look-up therefore compares the user's address with the key by which the user was
found, and updates the copy. If two users claim the same key, the current holder keeps the key, and
nobody else gets it.

Receives `post_save` of the host's user model: creates the account and updates the copies. And
`pre_delete`: modules forget the user in rows of others.

The receiver of `post_save` must never prevent the host project from saving a user. A database error
is rolled back to a savepoint and logged, and the next look-up repairs the account.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DatabaseError, connections, transaction
from django.db.models import Case, CharField, F, Q, QuerySet, Value, When
from django.db.models.signals import post_save

from authservice.core.models import Account, AddressReservation
from authservice.core.users import host_fields, identifiers
from authservice.core.users import person as people
from authservice.core.users.identifiers import EMAIL, PHONE, USERNAME, Identifier
from authservice.core.users.person import Person, create_account, refresh_copies, sync_account
from authservice.core.users.user_model import before_deletion, host
from authservice.kernel import clock, databases, errors
from authservice.kernel.interfaces import AccountAccess, SecondFactor
from authservice.kernel.modules import plugs
from authservice.kernel.sql import Select, param

logger = logging.getLogger("authservice.accounts")


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


_own_save: ContextVar[bool] = ContextVar("authservice_own_save", default=False)


def connect() -> None:
    post_save.connect(sync_account_of_user, dispatch_uid="authservice.core.users.lookup")
    before_deletion(_forget, "authservice.core.users.lookup")


def _forget(instance: Any, using: str, **_: Any) -> None:
    email = getattr(instance, host().email, "") if host().email else ""
    if email and using == databases.primary():
        for access in plugs(AccountAccess):
            access.before_deletion(identifiers.email_key(email))


def sync_account_of_user(
    sender: Any,
    instance: Any,
    using: str = "",
    raw: bool = False,
    update_fields: Any = None,
    **_: Any,
) -> None:
    """Create the account of a new user; update the copies of a changed one.

    A user who is saved in another database than that of the accounts is ignored.
    """
    if raw or _own_save.get():
        return
    # With multi-table inheritance, the row of a parent belongs to a user too. If the user model is
    # a proxy, so does the row of its concrete model.
    model = host().model
    if not issubclass(sender, model) and not issubclass(model, sender._meta.concrete_model):
        return
    if update_fields is None:
        update_fields = {field.name for field in sender._meta.concrete_fields}
    # Without an address or a username among the saved fields, no copy changes.
    if not {host().email, host().username} & set(update_fields):
        return
    if using and using != databases.primary():
        return
    try:
        with transaction.atomic(using=databases.primary()):
            pk = instance.pk
            if not isinstance(instance, model):
                # `instance` is a row of a parent model, perhaps of no user. The user model inherits
                # the primary key of the parent as a field of the same name. This takes one query.
                users = model._base_manager.using(databases.primary())
                rows = users.filter(**{sender._meta.pk.name: instance.pk})
                pk = rows.values_list("pk", flat=True).first()
            if pk is not None:
                keep_in_sync(pk)
    except DatabaseError:
        logger.exception("The account of user %s could not be synchronised", instance.pk)


def keep_in_sync(pk: Any) -> None:
    """Create a missing account, update the copies, and retry keys that another user had before.

    Reads the stored row: an instance may have database expressions as values, or values that were
    not saved.
    """
    person = find_or_create(pk)  # updates the copies too
    if person is None:
        return
    account = person.account
    # A claim without its key: when it was made, another user claimed the same one.
    unassigned = (account.email_claim and not account.email_key) or (
        account.username_claim and not account.username_key
    )
    if unassigned:
        sync_account(person)


@contextmanager
def own_save() -> Iterator[None]:
    """Context for our own code that saves a user and writes the account itself: the receiver does
    nothing."""
    token = _own_save.set(True)
    try:
        yield
    finally:
        _own_save.reset(token)
