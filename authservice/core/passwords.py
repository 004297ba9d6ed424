"""Passwords: the policy for new ones, and one hash per sign-in whatever happens."""

from __future__ import annotations

import inspect
import unicodedata
from typing import Any

from django.conf import settings
from django.contrib.auth import get_backends, password_validation
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.hashers import check_password, make_password
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from authservice.core import directory, identity
from authservice.core.conf import core
from authservice.core.host import host
from authservice.core.models import SignIn, Ticket
from authservice.core.people import Person
from authservice.kernel import crypto, errors
from authservice.kernel.client import Client

MINIMUM = 8
_MARK = "password-mark"


def mark(encoded: str) -> str:
    """What a row remembers of the password it was made under: a keyed digest of its hash."""
    return crypto.digest(_MARK, encoded)


def marks(encoded: str) -> list[str]:
    """Every mark that the hash may have been given, under each key there is."""
    return crypto.digests(_MARK, encoded)


def still(stored: str, encoded: str) -> bool:
    """Whether `encoded` is the password hash that `stored` is the mark of."""
    return crypto.matches(_MARK, encoded, stored)


def require_strong(password: str, user: Any, *, field: str = "password") -> None:
    """Raises `InvalidPassword`, naming the field, with every rule of ours and of the host that is
    broken."""
    broken = list(_broken(password))
    try:
        password_validation.validate_password(password, user)
    except ValidationError as wrong:
        broken += [text for text in wrong.messages if text not in broken]
    if broken:
        raise errors.InvalidPassword(f"{field}: {' '.join(broken)}", details={field: broken})


def encoded(password: str, user: Any, *, field: str = "password") -> str:
    """The hash of a new password that meets the policy. Raises `InvalidPassword`."""
    require_strong(password, user, field=field)
    return make_password(password)


def locked(person: Person) -> str:
    """The present hash, kept from changing until the transaction ends; "" where the user is gone.

    Whatever changes a password takes this lock first: so of several at once each sees what the one
    before left, and none waits for the other crosswise.
    """
    rows = host().model._base_manager.using(directory.database()).select_for_update()
    found = rows.filter(pk=person.user.pk).values_list("password", flat=True)
    return next(iter(found), "")


def store(person: Person, encoded: str) -> None:
    """Make `encoded` the password; the host's receivers of `post_save` hear of it."""
    person.user.password = encoded
    person.user.save(using=directory.database(), update_fields=["password"])


def _broken(password: str) -> list[str]:
    rules = [
        (len(password) >= MINIMUM, f"Must have at least {MINIMUM} characters."),
        (not core.require_uppercase or _has(password, "Lu"), "Must have an uppercase letter."),
        (not core.require_lowercase or _has(password, "Ll"), "Must have a lowercase letter."),
        (not core.require_digit or _has(password, "Nd"), "Must have a digit."),
        (
            not core.require_symbol or not all(c.isalnum() for c in password),
            "Must have a character that is neither a letter nor a digit.",
        ),
    ]
    return [text for kept, text in rules if not kept]


def _has(password: str, category: str) -> bool:
    return any(unicodedata.category(c) == category for c in password)


def check(person: Person | None, typed: str, password: str, client: Client) -> Person | None:
    """The person whom the host's backends accept for `password`, or None.

    Django's own backend is answered from the row already read: asking it again would cost a query
    and hide inactive users behind None. Any other backend is asked as Django would ask it.
    """
    hashed = False
    for path, backend in zip(settings.AUTHENTICATION_BACKENDS, get_backends(), strict=True):
        if type(backend) is ModelBackend:
            hashed = True
            accepted = person if _right(person, password) else None
        else:
            try:
                accepted = _ask(backend, person, typed, password, client)
            except PermissionDenied:
                if not hashed:
                    _hash_in_vain(password)
                return None
        if accepted is not None:
            accepted.user.backend = path
            return accepted
    return None


def _ask(
    backend: Any, person: Person | None, typed: str, password: str, client: Client
) -> Person | None:
    name = person.user.get_username() if person else typed
    credentials = {host().natural: name, "password": password}
    try:
        inspect.signature(backend.authenticate).bind(client.http, **credentials)
    except TypeError:
        return None  # this backend takes other credentials
    user = backend.authenticate(client.http, **credentials)
    if user is None:
        return None
    accepted = directory.of(user)
    if person is None and not _named(accepted, typed):
        # A spelling that only the database's collation takes for the name would have a guess
        # budget of its own.
        return None
    if person is not None and person.user.pk == accepted.user.pk:
        _carry_over(person, accepted, password)
    return accepted


def _named(person: Person, typed: str) -> bool:
    names = {person.email_key, identity.username_key(person.user.get_username())}
    return bool(names & {identity.email_key(typed), identity.username_key(typed)})


def _carry_over(read: Person, accepted: Person, password: str) -> None:
    """A backend may have stored a better hash of the same password: that ends no sign-in."""
    before, now = read.user.password, accepted.user.password
    if now != before and check_password(password, now):
        remark(accepted, before)


def _right(person: Person | None, password: str) -> bool:
    if person is None or not person.user.has_usable_password():
        _hash_in_vain(password)
        return False
    user = person.user
    if type(user).check_password is not AbstractBaseUser.check_password:
        return _right_by_host(person, password)
    return check_password(password, user.password, lambda raw: _upgrade(person, raw))


def _hash_in_vain(password: str) -> None:
    # Somebody who waits for the answer must not learn whether there was a password to check.
    make_password(password, hasher=core.dummy_hasher)


def _right_by_host(person: Person, password: str) -> bool:
    """A host that overrides `check_password` may store a better hash while it checks."""
    before = person.user.password
    right = bool(person.user.check_password(password))
    if right and person.user.password != before:
        remark(person, before)
    return right


def _upgrade(person: Person, password: str) -> None:
    """Store a better hash of the same password; every sign-in made under the old one lives on."""
    user, before = person.user, person.user.password
    better = make_password(password)
    rows = host().model._base_manager.using(directory.database())
    with transaction.atomic(using=directory.database()):
        # Two sign-ins may upgrade at once; the second finds the old hash gone and keeps the first.
        if rows.filter(pk=user.pk, password=before).update(password=better):
            user.password = better
            remark(person, before)
            return
    stored = rows.values_list("password", flat=True).get(pk=user.pk)
    if check_password(password, stored):
        user.password = stored
    # Else the password itself was changed: what begins now is marked with the old one, and ends.


def remark(person: Person, before: str) -> None:
    """Carry sign-ins and secrets over from a hash to a better one of the same password."""
    stale = marks(before)
    for model in (SignIn, Ticket):
        rows = model._base_manager.using(directory.database())
        rows.filter(user=person.user.pk, password_mark__in=stale).update(
            password_mark=mark(person.user.password)
        )
