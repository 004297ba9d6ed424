"""Passwords: the policy for new ones, and exactly one hash per login, whatever the result."""

from __future__ import annotations

import inspect
import unicodedata
from collections.abc import Collection
from contextlib import nullcontext
from typing import Any

from django.conf import settings
from django.contrib.auth import get_backends, password_validation
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.hashers import check_password, make_password, verify_password
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connections, transaction

from authservice.core.conf import core
from authservice.core.credentials.hash_limit import hash_slot, run_hash
from authservice.core.models import OneTimeToken, Session
from authservice.core.users import identifiers, lookup
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import crypto, databases, errors, languages
from authservice.kernel.client import Client
from authservice.kernel.modules import plugs
from authservice.kernel.phrases import phrase, translated
from authservice.kernel.secret import Secret

MINIMUM = 8
_TOO_SHORT = phrase("Must have at least %(count)d characters.", count=MINIMUM)
_UPPERCASE = phrase("Must have an uppercase letter.")
_LOWERCASE = phrase("Must have a lowercase letter.")
_DIGIT = phrase("Must have a digit.")
_SYMBOL = phrase("Must have a character that is neither a letter nor a digit.")
_MARK = "password-mark"


def fingerprint(encoded: str) -> str:
    """A keyed digest of a password hash. A row stores it to show which password it was created
    with."""
    return crypto.digest(_MARK, encoded)


def fingerprints(encoded: str) -> list[str]:
    """All fingerprints that rows may have of this hash, one for each configured key."""
    return crypto.digests(_MARK, encoded)


def matches_fingerprint(stored: str, encoded: str) -> bool:
    """Whether `stored` is a fingerprint of the password hash `encoded`."""
    return crypto.matches(_MARK, encoded, stored)


def require_strong(password: Secret, user: Any, *, field: str = "password") -> None:
    """Raises `InvalidPassword` for this field, with all broken rules of this service and the host
    project."""
    broken = list(_broken(password.reveal()))
    with languages.of_texts():
        try:
            password_validation.validate_password(password.reveal(), user)
        except ValidationError as wrong:
            broken = _with_rules_of_host(broken, wrong)
    if broken:
        raise errors.broken_password(field, broken)


def rules() -> str:
    """The rules for a new password, in the active language; for a form.

    Of Django's minimum length and ours, only the stricter is listed.
    """
    theirs, ours = [], _broken("")
    for validator in password_validation.get_default_password_validators():
        if isinstance(validator, password_validation.MinimumLengthValidator):
            if validator.min_length <= MINIMUM:
                continue
            ours = [text for text in ours if text != _TOO_SHORT]
        # Only forms of Django call it, so a validator of the project may lack it.
        theirs.append(str(getattr(validator, "get_help_text", str)()))
    return " ".join([*map(translated, ours), *filter(None, theirs)])


def hash_new_password(password: Secret, user: Any, *, field: str = "password") -> str:
    """The hash of a new password that meets the policy. Raises `InvalidPassword`, or
    `ServiceUnavailable` if too many passwords are being hashed."""
    require_strong(password, user, field=field)
    return run_hash(lambda: make_password(password.reveal()))


def lock_and_read(person: Person) -> str:
    """Lock the user's row until the transaction ends; returns the current hash, "" if the user is
    gone.

    Every change of a password takes this lock first, so concurrent changes are serialised and
    cannot deadlock.
    """
    rows = host().model._base_manager.using(databases.primary()).select_for_update()
    found = rows.filter(pk=person.user.pk).values_list("password", flat=True)
    return next(iter(found), "")


def lock_users(pks: Collection[Any]) -> set[Any]:
    """Lock the rows of these users until the transaction ends; returns the keys of those that
    exist.

    Rows are locked in the order of their keys, so two requests cannot deadlock. On PostgreSQL (`FOR
    NO KEY UPDATE`) other transactions can still write rows that reference the user.
    """
    using = databases.primary()
    no_key = connections[using].features.has_select_for_no_key_update
    rows = host().model._base_manager.using(using).select_for_update(no_key=no_key)
    return set(rows.filter(pk__in=pks).order_by("pk").values_list("pk", flat=True))


def store(person: Person, encoded: str) -> None:
    """Store `encoded` as the password hash; the host's receivers of `post_save` are called."""
    person.user.password = encoded
    person.user.save(using=databases.primary(), update_fields=["password"])


def _with_rules_of_host(ours: list[str], wrong: ValidationError) -> list[str]:
    """Join both lists. Of Django's minimum length and ours, only the stricter is reported."""
    theirs = []
    for error in wrong.error_list:
        if error.code == "password_too_short" and _TOO_SHORT in ours:
            if (error.params or {}).get("min_length", 0) <= MINIMUM:
                continue
            ours = [text for text in ours if text != _TOO_SHORT]
        theirs += error.messages
    return [*ours, *(text for text in theirs if text not in ours)]


def _broken(password: str) -> list[str]:
    rules = [
        (len(password) >= MINIMUM, _TOO_SHORT),
        (not core.require_uppercase or _has(password, "Lu"), _UPPERCASE),
        (not core.require_lowercase or _has(password, "Ll"), _LOWERCASE),
        (not core.require_digit or _has(password, "Nd"), _DIGIT),
        (
            not core.require_symbol or not all(c.isalnum() for c in password),
            _SYMBOL,
        ),
    ]
    return [text for kept, text in rules if not kept]


def _has(password: str, category: str) -> bool:
    return any(unicodedata.category(c) == category for c in password)


def check(person: Person | None, typed: str, password: Secret, client: Client) -> Person | None:
    """The user whom the host's backends accept with `password`, or None.

    For Django's own backend the row already read is checked: calling it would cost a query and
    return None for inactive users. Any other backend is called as Django does. Raises
    `ServiceUnavailable` if too many passwords are being hashed.
    """
    asked = False
    for path, backend in zip(settings.AUTHENTICATION_BACKENDS, get_backends(), strict=True):
        if type(backend) is ModelBackend:
            asked = True
            accepted = person if _right(person, password) else None
        else:
            try:
                accepted = _ask(backend, person, typed, password, client)
            except PermissionDenied:
                if not asked:
                    _dummy_hash(password)
                return None
        if accepted is not None:
            accepted.user.backend = path
            return accepted
    return None


def _ask(
    backend: Any, person: Person | None, typed: str, password: Secret, client: Client
) -> Person | None:
    name = {host().natural: person.user.get_username() if person else typed}
    try:
        inspect.signature(backend.authenticate).bind(client.http, **name, password="")
    except TypeError:
        return None  # this backend takes other credentials
    # Any other backend may wait for another server and would occupy the slot.
    with hash_slot() if isinstance(backend, ModelBackend) else nullcontext():
        user = backend.authenticate(client.http, **name, password=password.reveal())
    if user is None:
        return None
    accepted = lookup.get_person(user)
    if person is None and not _named(accepted, typed):
        # The database's collation may accept another spelling of the name. That spelling would have
        # its own counter of attempts.
        return None
    if person is not None and person.user.pk == accepted.user.pk:
        _rebind_sessions(person, accepted, password)
    return accepted


def _named(person: Person, typed: str) -> bool:
    names = {person.email_key, identifiers.username_key(person.user.get_username())}
    return bool(names & {identifiers.email_key(typed), identifiers.username_key(typed)})


def _rebind_sessions(read: Person, accepted: Person, password: Secret) -> None:
    """A backend may have stored a better hash of the same password: that ends no session."""
    before, now = read.user.password, accepted.user.password
    if now != before and run_hash(lambda: check_password(password.reveal(), now)):
        rebind(accepted, before)


def _right(person: Person | None, password: Secret) -> bool:
    if person is None or not person.user.has_usable_password():
        _dummy_hash(password)
        return False
    user = person.user
    if type(user).check_password is not AbstractBaseUser.check_password:
        return _right_by_host(person, password)
    # Django would pass a `setter`. The frame that calls it has the plain password in a variable.
    right, outdated = run_hash(lambda: verify_password(password.reveal(), user.password))
    if right and outdated:
        _upgrade(person, password)
    return right


def _dummy_hash(password: Secret) -> None:
    # The response time must not reveal whether there was a password to check.
    run_hash(lambda: make_password(password.reveal(), hasher=core.dummy_hasher))


def _right_by_host(person: Person, password: Secret) -> bool:
    """A host that overrides `check_password` may store a better hash while it checks."""
    before = person.user.password
    with hash_slot():
        right = bool(person.user.check_password(password.reveal()))
    if right and person.user.password != before:
        rebind(person, before)
    return right


def _upgrade(person: Person, password: Secret) -> None:
    """Store a better hash of the same password; sessions that began with the old one stay valid."""
    user, before = person.user, person.user.password
    better = run_hash(lambda: make_password(password.reveal()))
    rows = host().model._base_manager.using(databases.primary())
    with transaction.atomic(using=databases.primary()):
        # Two logins may upgrade concurrently: the second one finds another hash and keeps it.
        if rows.filter(pk=user.pk, password=before).update(password=better):
            user.password = better
            rebind(person, before)
            return
    stored = rows.values_list("password", flat=True).get(pk=user.pk)
    if run_hash(lambda: check_password(password.reveal(), stored)):
        user.password = stored
    # Otherwise the password itself was changed: a session that begins now has the fingerprint of
    # the old password, and is invalid.


def rebind(person: Person, before: str) -> None:
    """Store the fingerprint of a better hash of the same password in sessions and tokens."""
    stale, fresh = fingerprints(before), fingerprint(person.user.password)
    for model in (Session, OneTimeToken):
        rows = model._base_manager.using(databases.primary())
        rows.filter(user=person.user.pk, password_fingerprint__in=stale).update(
            password_fingerprint=fresh
        )
    for bound in plugs("fingerprint_rows"):
        bound.rebind(person.email_key, stale, fresh)
