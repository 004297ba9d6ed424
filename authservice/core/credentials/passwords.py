"""Passwords: exactly one hash per login, whatever the result, and a limit on concurrent hashes.

The order here: the limit, new passwords, locks and writes, `check` of a typed password by the
backends of the project, and the fingerprints that tie sessions and tokens to a password.

A hash takes 19 MiB and keeps a core busy. An ASGI server runs as many requests concurrently as
clients send, so without a limit a few hundred logins would use up the memory of the machine. A
request that gets no slot in time is refused with 503 before anything was hashed.

Hashes run in their own threads, one per slot. glibc's malloc keeps freed memory in an arena of the
thread that allocated it, so hashing in request threads would keep 19 MiB for each of them: 530 MiB
instead of 130, measured with 200 parallel logins. A server that runs requests in the main thread
has only one of them; there a hash runs in the same thread, which saves 0.1 ms of each login.

An attempt waits for its `hash_turn` before it is counted, so attempts that only wait are not
counted: otherwise many right passwords at once would use up the limit of wrong ones. Only one
attempt at a time for each counter takes a slot. If the counter refuses it, it releases the slot
without hashing, so attempts at a locked account cannot occupy all slots.
"""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from copy import copy, deepcopy
from datetime import timedelta
from threading import BoundedSemaphore, Lock, RLock, current_thread, main_thread
from time import monotonic, perf_counter
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.auth import get_backends, load_backend
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.hashers import check_password, make_password, verify_password
from django.core.exceptions import FieldError, PermissionDenied, ValidationError
from django.db import connections, transaction

from authservice.core.conf import core
from authservice.core.credentials.password_rules import require_strong
from authservice.core.models import OneTimeToken, PasswordCheck, Session, UnseenPassword
from authservice.core.users import host_fields, identifiers, lookup
from authservice.core.users.creation import NewPassword
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, errors, measures, secret
from authservice.kernel.client import Client
from authservice.kernel.interfaces import AccountAccess
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret
from authservice.kernel.settings import on_change

WAIT = 2.0  # seconds
T = TypeVar("T")


class _Slots:
    """`number` slots, and as many threads."""

    def __init__(self, number: int) -> None:
        self.free = BoundedSemaphore(number)
        self.threads = ThreadPoolExecutor(number, thread_name_prefix="authservice-hash")


class _Turn:
    """The lock of one counter, and how many threads hold it or wait for it."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.threads = 0


_lock = Lock()
_slots: _Slots | None = None
_turns: dict[str, _Turn] = {}
# The slot that `hash_turn` took for the first hash of its block, in a list. That hash removes it.
_reserved: ContextVar[list[_Slots] | None] = ContextVar("authservice_hash_slot", default=None)


def run_hash(work: Callable[[], T]) -> T:
    """Run `work`, which hashes or checks a password without a query, and return its result.

    Waits at most `WAIT` seconds for one of `CORE.HASHES_IN_FLIGHT` slots. Raises
    `ServiceUnavailable`. Must not be nested: requests that each hold a slot and wait for another
    would all be refused.
    """
    with _slot() as slots:
        if current_thread() is main_thread():
            return work()
        return slots.threads.submit(work).result()


@contextmanager
def hash_slot() -> Iterator[None]:
    """Hold a slot while code of the host hashes a password in this block. That code may run
    queries, so it stays in its own thread. Waits and raises as `run_hash` does."""
    with _slot():
        yield


@contextmanager
def hash_turn(key: str) -> Iterator[None]:
    """In this block the caller counts an attempt, checks the password and gives the attempt back if
    it was right.

    Waits until this process checks no other attempt with the counter `key`, and for a slot, which
    the first hash of the block uses; at most `WAIT` seconds in all. Raises `ServiceUnavailable`.
    """
    deadline = monotonic() + WAIT
    with _lock:
        queue = _turns.setdefault(key, _Turn())
        queue.threads += 1
    try:
        if not queue.lock.acquire(timeout=WAIT):
            measures.hash_waits.send_robust(None, seconds=WAIT, acquired=False)
            raise errors.ServiceUnavailable
        try:
            unused = [_take_slot(max(0.0, deadline - monotonic()))]
            token = _reserved.set(unused)
            try:
                yield
            finally:
                _reserved.reset(token)
                if unused:
                    unused.pop().free.release()
        finally:
            queue.lock.release()
    finally:
        with _lock:
            queue.threads -= 1
            if not queue.threads:
                _turns.pop(key, None)


def free_reserved() -> None:
    """Free the slot of `hash_turn` before code that hashes nothing here, such as a call of another
    server. A later hash waits for a slot again."""
    if unused := _reserved.get():
        unused.pop().free.release()


@contextmanager
def _slot() -> Iterator[_Slots]:
    unused = _reserved.get()
    slots = unused.pop() if unused else _take_slot(WAIT)
    try:
        yield slots
    finally:
        slots.free.release()


def _take_slot(seconds: float) -> _Slots:
    """Take a slot, waiting at most `seconds`, which are left of `WAIT`. Raises
    `ServiceUnavailable`."""
    slots = _current_slots()
    began = perf_counter()
    acquired = slots.free.acquire(timeout=seconds)
    waited = WAIT - seconds + perf_counter() - began
    measures.hash_waits.send_robust(None, seconds=waited, acquired=acquired)
    if not acquired:
        raise errors.ServiceUnavailable
    return slots


def hashes_at_once() -> int:
    """The number of hashes that may run concurrently; by default twice the number of cores."""
    return core.hashes_in_flight or 2 * (os.cpu_count() or 1)


def _current_slots() -> _Slots:
    global _slots
    with _lock:
        if _slots is None:
            _slots = _Slots(hashes_at_once())
        return _slots


@on_change
def _forget_slots() -> None:
    # Running requests release their slots on the old object.
    global _slots
    with _lock:
        _slots = None


def _after_fork() -> None:
    # After a fork the child has no threads, and perhaps a lock that is never released.
    global _lock, _slots
    _lock, _slots = Lock(), None
    _turns.clear()


os.register_at_fork(after_in_child=_after_fork)


logger = logging.getLogger("authservice.accounts")

_FINGERPRINT = "password-mark"  # the purpose of the digests of `fingerprint`
_UNSEEN_FOR = timedelta(days=30)  # how long the rows of `tell_validators_at_login` are valid
# Errors of a backend that was not written for the credentials that it gets.
_UNSUITABLE = (FieldError, LookupError, OverflowError, TypeError, ValidationError, ValueError)


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
    cannot deadlock. SQLite has no row locks, and needs none: only one transaction writes at a time,
    and a transaction cannot write once another one has changed what it has read.
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
    """What backends are called with, in this order: the natural key, then `username`, then the name
    of the field, each once.

    An unknown user takes as many calls, unless no natural key can be `typed`, such as an address
    where the key is a number.
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
    # Django's `check_password` takes a `setter` for a better hash. The frame that calls it has the
    # plain password in a variable, and reports of errors show variables.
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
    return secret.digest(_FINGERPRINT, str(encoded))  # a column of a project may be NULL


def fingerprints(encoded: str) -> list[str]:
    """All fingerprints that rows may have of this hash, one for each configured key."""
    return secret.digests(_FINGERPRINT, str(encoded))


def matches_fingerprint(stored: str, encoded: str) -> bool:
    """Whether `stored` is a fingerprint of the password hash `encoded`."""
    return secret.matches(_FINGERPRINT, str(encoded), stored)
