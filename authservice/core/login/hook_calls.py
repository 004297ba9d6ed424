"""The hooks with which the host project refuses logins and sign-ups.

`CORE.LOGIN_HOOK` is called by the one door (`login.enter`), after all other checks and before the
session exists. It runs in a transaction, which must not wait for other services. So
`CORE.LOGIN_HOOK_PREPARE` is called before that transaction, and its result is passed to the hook. A
refusal of a login is returned instead of raised: the transaction commits with the counters and
audit entries in it, and `login.enter` raises the refusal afterwards.

`CORE.SIGNUP_HOOK` is called before the transaction that creates the account.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.module_loading import import_string

from authservice.core.conf import core
from authservice.core.users import creation
from authservice.core.users.creation import NewUser
from authservice.kernel.client import Client
from authservice.kernel.errors import Fault
from authservice.kernel.hooks import LoginAttempt, Refused, SignupAttempt
from authservice.kernel.interfaces import Arrival


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
