"""Replaces the e-mail address or username of a user, in the host's row and in our account."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, transaction

from authservice.core import errors
from authservice.core.models import Account
from authservice.core.users import creation, host_fields, lookup
from authservice.core.users.identifiers import EMAIL, USERNAME, Identifier
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import databases, throttling
from authservice.kernel.client import Client
from authservice.kernel.errors import Fault, ValidationFailed


def replace(person: Person, kind: Identifier, text: str, **account_fields: Any) -> None:
    """Store the identifier and other fields of the account, in the current transaction.

    Raises what `require_free` raises, also if another user takes the identifier at the same moment.
    Raises `ValidationFailed` if the host's model refuses the identifier, and `Conflict` if the
    host's table refuses the row for another reason.
    """
    require_free(person, kind, text)
    using, fields = databases.primary(), {**account_fields, **_copies(person, kind, text)}
    before = getattr(person, kind.text)
    try:
        with transaction.atomic(using=using):
            _save_in_host(person, kind, text)
            Account.objects.filter(pk=person.user.pk).update(**fields)
    except (IntegrityError, errors.Conflict, ValidationFailed) as refusal:
        if field := getattr(host(), kind.text):
            setattr(person.user, field, before)
        _require_free_in_host(kind, text)
        if isinstance(refusal, Fault):
            raise
        raise _duplicate_fault(kind) from refusal
    for name, value in fields.items():
        setattr(person.account, name, value)


def require_free(person: Person, kind: Identifier, text: str) -> None:
    """Raises `UserAlreadyExists` or `UsernameAlreadyExists` if another user has the identifier.
    Another spelling of the user's own one is free."""
    if is_same(person, kind, text):
        return
    keys: dict[str, str | None] = {"email": None, "username": None, "phone": None}
    keys[kind.text] = kind.key(text)
    name = text if kind is USERNAME else ""
    if lookup.claimed_keys(**keys, name=name, but_of=person.user.pk):
        raise _duplicate_fault(kind)
    _require_free_in_host(kind, text)


def is_same(person: Person, kind: Identifier, text: str) -> bool:
    """Whether the text is the user's own identifier, in this or an equivalent spelling."""
    present = getattr(person, kind.text)
    return bool(present) and kind.key(present) == kind.key(text)


@contextmanager
def counted(client: Client) -> Iterator[None]:
    """Count the block under the limit `is-available`, unless it succeeds: a refusal reveals that
    a value is taken. The count precedes the block, so a client beyond the limit learns nothing."""
    throttling.count("is-available", client.network)
    yield
    throttling.refund("is-available", client.network)


def _copies(person: Person, kind: Identifier, text: str) -> dict[str, Any]:
    """The fields of the account that store the identifier."""
    if is_same(person, kind, text):
        return {kind.text: text}  # the keys stay: another user may hold a contested one
    key = kind.key(text)
    return {kind.text: text, kind.claim: key, kind.unique: key}


def _save_in_host(person: Person, kind: Identifier, text: str) -> None:
    field: str = getattr(host(), kind.text)
    if not field:
        return
    host_fields.set_value(person.user, field, text, field=kind.text)
    with lookup.own_save(), host_fields.saving(**{field: kind.text}):
        person.user.save(using=databases.primary(), update_fields=[field])


def _require_free_in_host(kind: Identifier, text: str) -> None:
    email, username = (text, "") if kind is EMAIL else ("", text)
    creation.require_not_taken(email, username)


def _duplicate_fault(kind: Identifier) -> Fault:
    return errors.UserAlreadyExists() if kind is EMAIL else errors.UsernameAlreadyExists()
