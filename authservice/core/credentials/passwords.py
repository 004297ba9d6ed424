"""Passwords: the policy for new ones, and exactly one hash per login, whatever the result.

The order here: the rules for new passwords, locks and writes, `check` of a typed password by the
backends of the project, and the fingerprints that tie sessions and tokens to a password.
"""

from __future__ import annotations

import inspect
import logging
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from contextlib import nullcontext
from copy import copy, deepcopy
from datetime import timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth import get_backends, load_backend, password_validation
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.hashers import check_password, make_password, verify_password
from django.core.exceptions import FieldError, PermissionDenied, ValidationError
from django.db import connections, transaction

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials.hash_limit import free_reserved, hash_slot, run_hash
from authservice.core.credentials.password_validators import MinimumLengthWithoutFactor
from authservice.core.models import OneTimeToken, PasswordCheck, Session, UnseenPassword
from authservice.core.users import host_fields, identifiers, lookup
from authservice.core.users.creation import NewPassword
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, crypto, databases, languages
from authservice.kernel.client import Client
from authservice.kernel.interfaces import AccountAccess
from authservice.kernel.modules import plugs
from authservice.kernel.phrases import phrase, translated
from authservice.kernel.secret import Secret

logger = logging.getLogger("authservice.accounts")

MINIMUM = 8


def _at_least(count: int) -> str:
    return phrase("Must have at least %(count)d characters.", count=count)


_TOO_SHORT = _at_least(MINIMUM)
_UPPERCASE = phrase("Must have an uppercase letter.")
_LOWERCASE = phrase("Must have a lowercase letter.")
_DIGIT = phrase("Must have a digit.")
_SYMBOL = phrase("Must have a character that is neither a letter nor a digit.")
# The same rules in JavaScript, for forms.
_PATTERNS: dict[str, str] = {
    _TOO_SHORT: f"^.{{{MINIMUM},}}",
    _UPPERCASE: r"\p{Lu}",
    _LOWERCASE: r"\p{Ll}",
    _DIGIT: r"\p{Nd}",
    _SYMBOL: r"[^\p{L}\p{N}]",
}
# What forms say of Django's rules: shorter than their help texts, and in the voice of the others.
_OF_DJANGO: dict[type[Any], str] = {
    password_validation.CommonPasswordValidator: phrase("Must not be a common password."),
    password_validation.NumericPasswordValidator: phrase("Must not consist of digits only."),
    password_validation.UserAttributeSimilarityValidator: phrase(
        "Must not be similar to your name or e-mail address."
    ),
}
_FINGERPRINT = "password-mark"  # the purpose of the digests of `fingerprint`
_UNSEEN_FOR = timedelta(days=30)  # how long the rows of `tell_validators_at_login` are valid
# Errors of a backend that was not written for the credentials that it gets.
_UNSUITABLE = (FieldError, LookupError, OverflowError, TypeError, ValidationError, ValueError)


def require_strong(password: Secret, user: Any, *, field: str = "password") -> None:
    """Raises `InvalidPassword` for this field, with all broken rules of this service and the host
    project."""
    broken = list(_broken(password.reveal()))
    with languages.of_texts():
        try:
            password_validation.validate_password(password.reveal(), user)
        except ValidationError as error:
            broken = _with_rules_of_host(broken, error)
    if broken:
        raise errors.broken_password(field, broken)


class Rule(NamedTuple):
    """A rule for a new password, for a form. `pattern` is a regular expression of JavaScript (flags
    `su`) that matches the passwords that meet the rule, "" if a browser cannot tell."""

    text: str
    pattern: str = ""


def rules(user: Any = None) -> list[Rule]:
    """The rules for a new password of this user (None for a new user), in the active language.

    Of several minimum lengths, only the longest that applies to the user is listed.
    """
    # Each rule with the minimum length that it requires, or 0; "" breaks all rules.
    listed = [
        (MINIMUM if text == _TOO_SHORT else 0, Rule(translated(text), _PATTERNS[text]))
        for text in _broken("")
    ]
    for validator in password_validation.get_default_password_validators():
        length, pattern = 0, ""
        if isinstance(validator, MinimumLengthWithoutFactor) and not validator.is_broken("", user):
            continue
        if isinstance(
            validator, password_validation.MinimumLengthValidator | MinimumLengthWithoutFactor
        ):
            length, pattern = validator.min_length, f"^.{{{validator.min_length},}}"
        elif type(validator) is password_validation.NumericPasswordValidator:
            pattern = r"\P{N}"  # a subclass may have a rule of its own
        if type(validator) is password_validation.MinimumLengthValidator:
            text = translated(_at_least(length))
        elif type(validator) in _OF_DJANGO:
            text = translated(_OF_DJANGO[type(validator)])
        else:  # only forms of Django call `get_help_text`, so one of the project may lack it
            text = str(getattr(validator, "get_help_text", str)())
        if text:
            listed.append((length, Rule(text, pattern)))
    longest = max(listed, key=lambda entry: entry[0])
    return [entry[1] for entry in listed if not entry[0] or entry is longest]


def _with_rules_of_host(own_texts: list[str], host_error: ValidationError) -> list[str]:
    """Join both lists. Of several minimum lengths, only the longest is reported."""
    too_short = [error for error in host_error.error_list if _minimum(error)]
    longest = max(too_short, key=_minimum, default=None)
    if longest is not None and _TOO_SHORT in own_texts:
        if _minimum(longest) > MINIMUM:
            own_texts = [text for text in own_texts if text != _TOO_SHORT]
        else:
            longest = None
    host_texts = [
        text
        for error in host_error.error_list
        if error is longest or not _minimum(error)
        for text in error.messages
    ]
    return [*own_texts, *(text for text in host_texts if text not in own_texts)]


def _minimum(error: ValidationError) -> int:
    """The minimum length that a password does not have, or 0 for an error of another rule."""
    if error.code != "password_too_short":
        return 0
    length = (error.params or {}).get("min_length", 0)
    return length if isinstance(length, int) else 0


def _broken(password: str) -> list[str]:
    """The texts of those rules of this service that the password breaks."""
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
    return [text for met, text in rules if not met]


def _has(password: str, category: str) -> bool:
    return any(unicodedata.category(c) == category for c in password)


def hash_new_password(password: Secret, user: Any, *, field: str = "password") -> NewPassword:
    """A new password that meets the policy, hashed. Raises `InvalidPassword`, or
    `ServiceUnavailable` if too many passwords are being hashed."""
    require_strong(password, user, field=field)
    if type(user).set_password is AbstractBaseUser.set_password:
        return NewPassword(
            {"password": run_hash(lambda: make_password(password.reveal()))}, password
        )
    # A host that overrides `set_password` may set other columns too, such as a date or a list of
    # former hashes. It is called once, on a copy: the row that is stored is read later, under a
    # lock.
    changed, before = copy(user), vars(user)
    names = {field.attname for field in host().model._meta.concrete_fields}
    for name in names & before.keys():
        if isinstance(before[name], list | dict | set):
            # `set_password` may append to the list of a JSONField.
            setattr(changed, name, deepcopy(before[name]))
    with hash_slot():
        changed.set_password(password.reveal())
    after = {name: value for name, value in vars(changed).items() if name in names}
    columns = {name: value for name, value in after.items() if value != before.get(name)}
    return NewPassword({**columns, "password": changed.password}, password)


def lock_user(person: Person) -> None:
    """Lock the user's row until the transaction ends.

    Every change of a password takes this lock first, so concurrent changes are serialized and
    cannot deadlock. SQLite has no row locks: only one transaction writes at a time, and one that
    has read what another one changed since cannot write. So nothing is run there.
    """
    using = databases.primary()
    if connections[using].features.has_select_for_update:
        rows = host().model._base_manager.using(using).select_for_update()
        list(rows.filter(pk=person.user.pk).values_list("pk", flat=True))


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


def store(person: Person, encoded: NewPassword) -> None:
    """Store the hashed password; the host's receivers of `post_save` are called, and its validators
    see the password after the commit."""
    columns = encoded.assign(person.user)
    with host_fields.saving():
        person.user.save(using=databases.primary(), update_fields=columns)
    encoded.tell_validators(person.user)


def check(
    person: Person | None, name: str, typed: str, password: Secret, client: Client
) -> Person | None:
    """The user whom the host's backends accept with `password`, or None.

    `name` is what `typed` is: "email" or "username". Each backend is called with the natural key of
    the user. If none accepts, each is called with the identifier as typed: as `username`, as
    Django's forms do, and under its own name.

    For Django's own backend the row already read is checked: calling it would cost a query and
    return None for inactive users. Any other backend is called as Django does. Raises
    `ServiceUnavailable` if too many passwords are being hashed.
    """
    checked = False
    backends = list(zip(settings.AUTHENTICATION_BACKENDS, get_backends(), strict=True))
    for credentials in _credentials(person, name, typed):
        for path, backend in backends:
            if type(backend) is ModelBackend:
                # Only once: for other credentials the backend would find the same row, and hash the
                # password again.
                accepted = person if not checked and _is_right(person, password) else None
                checked = True
            else:
                try:
                    accepted = _ask(backend, person, typed, credentials, password, client)
                except PermissionDenied:
                    if not checked:
                        _dummy_hash(password)
                    return None
            if accepted is not None:
                accepted.user.backend = path
                return accepted
    return None


def tell_validators_at_login(person: Person) -> None:
    """Call `password_changed` of the validators later: at the first login with the password, or
    another check of it that succeeds (`tell_waiting_validators`). For an account that was created
    from a hash, without the password itself."""
    UnseenPassword.objects.create(
        user_id=person.user.pk,
        password_fingerprint=fingerprint(person.user.password),
        expires_at=clock.now() + _UNSEEN_FOR,
    )


def tell_waiting_validators(person: Person, password: Secret) -> None:
    """Call the validators that wait for the password of this user, whom `check` returned.

    Call it only once the user is admitted: the statement and the hashes of the validators would
    reveal a right password, and so a new account, behind a refusal that hides it.
    """
    # The conditions save the statement at the logins of all other users.
    if (
        core.signup_enumeration != "hide"
        or person.account_row.created_at < clock.now() - _UNSEEN_FOR
    ):
        return
    if not isinstance(load_backend(person.user.backend), ModelBackend):
        return  # another backend accepted a password that is not that of the user's row
    # Skips a password that was replaced since. Of several concurrent logins, one deletes the row.
    current = fingerprints(person.user.password)
    rows = UnseenPassword.objects.filter(user=person.user.pk, password_fingerprint__in=current)
    if rows.delete()[0]:
        NewPassword({}, password).tell_validators(person.user)


def _credentials(person: Person | None, name: str, typed: str) -> Iterator[dict[str, Any]]:
    """What backends are called with, in this order.

    The number of calls depends on `name` and not on the user: an unknown user takes as long.
    """
    natural = host().natural
    if person is not None:
        yield {natural: person.user.get_username()}
    elif host_fields.lookup_value(natural, typed) is not None:
        yield {natural: typed}
    if name != "username" or natural != "username":
        yield {"username": typed}
    if name not in ("username", natural):
        yield {name: typed}


def _ask(
    backend: Any,
    person: Person | None,
    typed: str,
    credentials: Mapping[str, Any],
    password: Secret,
    client: Client,
) -> Person | None:
    """The user whom a backend accepts with these credentials, or None."""
    try:
        inspect.signature(backend.authenticate).bind(client.http, **credentials, password="")
    except TypeError:
        return None  # this backend takes other credentials
    # Any other backend may wait for another server and would occupy the slot.
    hashes_here = isinstance(backend, ModelBackend)
    if not hashes_here:
        free_reserved()
    with hash_slot() if hashes_here else nullcontext():
        user = _answer(backend, typed, credentials, password, client)
    if user is None:
        return None
    accepted = lookup.get_person(user)
    if person is None:
        # The database's collation may accept another spelling of the name. That spelling would have
        # its own counter of attempts.
        names = {accepted.email_key, identifiers.username_key(str(accepted.user.get_username()))}
        if not names & {identifiers.email_key(typed), identifiers.username_key(typed)}:
            return None
    elif person.user.pk == accepted.user.pk:
        # A backend may have stored a better hash of the same password: that ends no session.
        before, after = person.user.password, accepted.user.password
        if after != before and run_hash(lambda: check_password(password.reveal(), after)):
            rebind(accepted, before)
    return accepted


def _answer(
    backend: Any, typed: str, credentials: Mapping[str, Any], password: Secret, client: Client
) -> Any:
    try:
        return backend.authenticate(client.http, **credentials, password=password.reveal())
    except _UNSUITABLE:
        # A backend may look for a row by a value that its field cannot hold, such as a name for a
        # number.
        natural = host().natural
        if natural in credentials and host_fields.lookup_value(natural, typed) is not None:
            raise
        logger.info("%s takes no %s", type(backend).__name__, next(iter(credentials)))
        return None


def _is_right(person: Person | None, password: Secret) -> bool:
    if person is None or not person.user.has_usable_password():
        _dummy_hash(password)
        return False
    user = person.user
    if type(user).check_password is not AbstractBaseUser.check_password:
        # A host that overrides `check_password` may store a better hash while it checks.
        before = user.password
        with hash_slot():
            right = bool(user.check_password(password.reveal()))
        if right and user.password != before:
            rebind(person, before)
        return right
    # Django would pass a `setter`. The frame that calls it has the plain password in a variable.
    right, outdated = run_hash(lambda: verify_password(password.reveal(), user.password))
    if right and outdated:
        _upgrade(person, password)
    return right


def _dummy_hash(password: Secret) -> None:
    # The response time must not reveal whether there was a password to check.
    run_hash(lambda: make_password(password.reveal(), hasher=core.dummy_hasher))


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
    """Store the fingerprint of a better hash of the same password wherever the former one is."""
    stale, fresh = fingerprints(before), fingerprint(person.user.password)
    for model in (Session, OneTimeToken, PasswordCheck, UnseenPassword):
        rows = model._base_manager.using(databases.primary())
        rows.filter(user=person.user.pk, password_fingerprint__in=stale).update(
            password_fingerprint=fresh
        )
    for access in plugs(AccountAccess):
        access.rebind(person.email_key, stale, fresh)


def fingerprint(encoded: str) -> str:
    """A keyed digest of a password hash. A row stores it to show which password it was created
    with."""
    return crypto.digest(_FINGERPRINT, str(encoded))  # a column of a project may be NULL


def fingerprints(encoded: str) -> list[str]:
    """All fingerprints that rows may have of this hash, one for each configured key."""
    return crypto.digests(_FINGERPRINT, str(encoded))


def matches_fingerprint(stored: str, encoded: str) -> bool:
    """Whether `stored` is a fingerprint of the password hash `encoded`."""
    return crypto.matches(_FINGERPRINT, str(encoded), stored)
