"""Code of the host project at a login: the hooks with which it refuses logins and sign-ups, and the
receivers of Django's signal.

`CORE.LOGIN_HOOK` is called by the one door (`login.enter`), after all other checks and before the
session exists. It runs in a transaction, which must not wait for other services. So
`CORE.LOGIN_HOOK_PREPARE` is called before that transaction, and its result is passed to the hook. A
refusal of a login is returned instead of raised: the transaction commits with the counters and
audit entries in it, and `login.enter` raises the refusal afterwards.

`CORE.SIGNUP_HOOK` is called before the transaction that creates the account.

`write_last_login` writes `last_login` as Django's own receiver does, with a statement that is
compiled once. Building that UPDATE for each login would take an eighth of the time of the login.
Receivers of `pre_save` and `post_save` get the same signals as from Django. If a model overrides
how it is saved, its `save` is called, as Django's receiver does. The `dispatch_uid` is Django's: a
host project that disconnects Django's receiver by it disconnects `write_last_login`.

Within `followed_by`, it also runs the other statements of the login; on PostgreSQL they are one
statement with its own. Receivers of the login signal that are called after it see all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.signals import user_logged_in
from django.db import DatabaseError, DataError, IntegrityError, router, transaction
from django.db.models import DateTimeField, Model
from django.db.models.signals import post_save, pre_save
from django.utils.module_loading import import_string

from authservice.core.conf import core
from authservice.core.credentials import passwords
from authservice.core.users import creation, host_fields
from authservice.core.users.creation import NewUser
from authservice.core.users.user_model import host
from authservice.kernel import clock, settings
from authservice.kernel.client import Client
from authservice.kernel.errors import Fault
from authservice.kernel.hooks import LoginAttempt, Refused, SignupAttempt
from authservice.kernel.interfaces import Arrival
from authservice.kernel.sql import Bound, Update, param, run_together


@dataclass(frozen=True)
class Prepared:
    """What `CORE.LOGIN_HOOK_PREPARE` returned, or its refusal, which counts like that of the hook:
    a client must not learn of it before the second factor is verified."""

    value: Any = None
    refusal: Refused | None = None


def prepare(user: Any, client: Client, *, method: str, proofs: tuple[str, ...]) -> Prepared:
    """Call `CORE.LOGIN_HOOK_PREPARE`, before the transaction of the login."""
    if not (core.login_hook and core.login_hook_prepare):
        return Prepared()
    attempt = LoginAttempt(user=user, client=client, method=method, proofs=proofs)
    try:
        return Prepared(_call(core.login_hook_prepare, attempt))
    except Refused as refusal:
        return Prepared(refusal=refusal)


def prepare_signup(
    new_user: NewUser, client: Client, *, method: str, proofs: tuple[str, ...]
) -> Prepared:
    """Call `CORE.LOGIN_HOOK_PREPARE` for a new user, before the transaction that creates them."""
    if not (core.login_hook and core.login_hook_prepare):
        return Prepared()
    unsaved = creation.unsaved_user(new_user, new_user.username)
    return prepare(unsaved, client, method=method, proofs=proofs)


def refusal(arrival: Arrival, prepared: Prepared) -> Refused | None:
    """Why `CORE.LOGIN_HOOK` refuses this login, or None if it does not."""
    if not core.login_hook:
        return None
    if prepared.refusal is not None:
        return prepared.refusal
    attempt = LoginAttempt(
        user=arrival.person.user,
        client=arrival.client,
        method=arrival.method,
        proofs=arrival.proofs,
        prepared=prepared.value,
    )
    try:
        _call(core.login_hook, attempt)
    except Refused as refused:
        return refused
    return None


def require_signup_allowed(new_user: NewUser, client: Client, *, method: str) -> None:
    """Raises `Refused` if `CORE.SIGNUP_HOOK` refuses the new account. Call it outside of every
    transaction, and whether or not the address is taken."""
    if not core.signup_hook:
        return
    unsaved = creation.unsaved_user(new_user, new_user.username)
    fields = new_user.extra_fields.values
    attempt = SignupAttempt(user=unsaved, client=client, method=method, fields=fields)
    _call(core.signup_hook, attempt)


def _call(path: str, attempt: LoginAttempt | SignupAttempt) -> Any:
    hook: Callable[[Any], Any] = import_string(path)
    try:
        return hook(attempt)
    except Refused:
        raise
    except Fault as fault:
        # To clients it would look like a refusal of the service, on whose meaning they act.
        raise TypeError(f"{path} raised {fault.code}. A hook refuses with Refused.") from fault


_RECEIVER = "update_last_login"
_FOLLOWING = "_authservice_following"  # attribute of the user: the statements of `followed_by`
_FIELDS = frozenset({"last_login"})

_WRITE = Update(
    lambda: host().model._base_manager.filter(
        pk=param("key", host().model, host().model._meta.pk.name)
    ),
    lambda: {"last_login": param("moment", host().model, "last_login")},
)


def replace_receiver() -> None:
    """Replace Django's receiver if it is connected."""
    if user_logged_in.disconnect(dispatch_uid=_RECEIVER):
        user_logged_in.connect(write_last_login, dispatch_uid=_RECEIVER)


def write_last_login(sender: Any, user: Any, **_: Any) -> None:
    """Store the time of the login. Raises as `user.save(update_fields=["last_login"])` does."""
    model: Any = type(user)
    user.last_login = clock.now()
    # Django's `save` also calls `password_changed` of the validators if a password was set.
    if not _saves_as_django(model) or user._password is not None:
        user.save(update_fields=["last_login"])
        return
    using = router.db_for_write(model, instance=user)
    arguments = {"instance": user, "raw": False, "using": using, "update_fields": _FIELDS}
    pre_save.send(sender=model, **arguments)
    statement = _WRITE.bound(using, key=user.pk, moment=user.last_login)
    following = user.__dict__.pop(_FOLLOWING, ())
    with transaction.mark_for_rollback_on_error(using=using):
        if following:
            _run_following(following, statement)
        elif not statement.run():
            user.save(update_fields=["last_login"])  # raises an error: the row is gone
    user._state.db = using
    post_save.send(sender=model, created=False, **arguments)


@contextmanager
def followed_by(user: Any, *statements: Bound) -> Iterator[None]:
    """In this block, in which the caller sends the login signal, `write_last_login` runs these
    statements after its own; the last one inserts a row that references the user.

    If it is not called, or leaves the row to Django, they run at the end of the block. They
    lock rows of the user's account, so the user's row is locked first: the lock order.

    Raises `Conflict` if the project refuses a row (`host_fields.saving`). A refusal of our own
    tables is no such error: it is a fault of this service or its database, which no client can
    correct.
    """
    user.__dict__[_FOLLOWING] = statements
    try:
        with host_fields.saving():
            yield
            if following := user.__dict__.pop(_FOLLOWING, ()):
                passwords.lock_users([user.pk])
                _run_following(following)
    except _OwnRowsRefused as refusal:
        raise refusal.error from None
    finally:
        user.__dict__.pop(_FOLLOWING, None)


class _OwnRowsRefused(Exception):
    """Carries a refusal of our own tables through `host_fields.saving`."""

    def __init__(self, error: DatabaseError) -> None:
        super().__init__(str(error))
        self.error = error


def _run_following(following: Sequence[Bound], first: Bound | None = None) -> None:
    """Run our own statements. `first`, if given, writes the project's row before them."""
    if first is not None and first.connection.vendor != "postgresql":
        first.run()
        first = None
    try:
        run_together(*following) if first is None else run_together(first, *following)
    except (IntegrityError, DataError) as error:
        # PostgreSQL names the table whose row it refused; the error of a trigger names none.
        table = getattr(getattr(error.__cause__, "diag", None), "table_name", None)
        of_host = isinstance(error, IntegrityError) and table in (None, host().model._meta.db_table)
        if first is not None and of_host:
            raise
        raise _OwnRowsRefused(error) from error


@settings.cached_for_host
def _saves_as_django(model: Any) -> bool:
    return (
        model is host().model
        and model.save is AbstractBaseUser.save
        and all(
            getattr(model, step) is getattr(Model, step)
            for step in ("save_base", "_save_table", "_do_update")
        )
        and not model._meta.parents
        and type(model._meta.get_field("last_login")) is DateTimeField
    )
