"""Accept an invitation: the token proves the address, then the one door decides.

The account of the address accepts, or a new one is created. The one door is `login.enter`. A client
that is signed in to that very account keeps its session; a token of another account is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import password_rules, passwords
from authservice.core.invitations import closing
from authservice.core.invitations.models import Invitation, Status
from authservice.core.login import host_hooks, login
from authservice.core.login.login import Login, NewAccount
from authservice.core.recovery import first_proof, verification
from authservice.core.sessions import rotation
from authservice.core.sessions.bearer import Caller
from authservice.core.users import creation, host_fields, lookup
from authservice.core.users.creation import INVITATION, NewPassword, NewUser
from authservice.core.users.person import Person
from authservice.kernel import events
from authservice.kernel.client import Client
from authservice.kernel.errors import (
    InvalidRefreshToken,
    ServiceUnavailable,
    ValidationFailed,
)
from authservice.kernel.languages import of_field
from authservice.kernel.secret import Secret

# The refusals of `accept`, for the API description of the routes that call it.
REFUSALS = (
    errors.Conflict,
    errors.InvalidPassword,
    InvalidRefreshToken,
    errors.InvitationExpired,
    errors.InvitationNotFound,
    errors.InvitationNotPending,
    errors.PhoneNotVerified,
    ServiceUnavailable,
    errors.UserAlreadyExists,
    errors.UserNotActive,
)
# As for a magic link: a mailed link proves no possession of a device.
_PROOFS = ("email",)
# An account of the address may be created or deleted between two statements.
_ATTEMPTS = 4

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Name and password of a new account; ignored if the address has an account."""

    name: str = ""
    password: Secret


@dataclass(frozen=True)
class Accepted(Generic[T]):
    """The login, whether the account is new, and what `join` returned."""

    login: Login
    is_new_user: bool
    joined: T


class _RequestSession(NamedTuple):
    """The live session of the request, if any, and the refresh token that its client sent; see
    `accept` for `visitor`."""

    caller: Caller | None
    visitor: Person | None
    refresh_token: Secret


class _Moved(Exception):
    """The account was deleted, or its address changed, since it was found."""


def accept(
    invitation: Invitation,
    profile: Profile,
    client: Client,
    *,
    caller: Caller | None,
    visitor: Person | None,
    refresh_token: Secret,
    join: Callable[[Person], T],
    lock: Callable[[], object] = lambda: None,
    method: str = INVITATION,
) -> Accepted[T]:
    """Accept a pending invitation of `closing.find` and sign the user in.

    `join` runs in the same transaction after the invitation is marked as accepted, with the user;
    a `Fault` that it raises undoes everything. `lock` takes the locks that come before that of the
    invitation. `caller` is the live session of the request, if any, and `refresh_token` the one
    that its client sent along, or empty; see `rotation.continued`. `visitor` is the user of a
    browser whose session cannot continue: accepting is a new login then, but removes nothing from
    an account of their own. `method` names the way to sign in.

    Raises `ValidationFailed` for a missing name or password of a new account, one of `REFUSALS`, or
    `Refused`. A refusal leaves the invitation pending, except for that of `CORE.LOGIN_HOOK`, which
    refuses only the session.
    """

    def joining(present: Person) -> T:
        lock()
        closing.close(invitation, Status.ACCEPTED)
        return join(present)

    encoded: NewPassword | None = None
    for attempt in range(_ATTEMPTS):
        person = lookup.find_by_email(invitation.email)
        try:
            if person is not None:
                current = _RequestSession(caller, visitor, refresh_token)
                accepted = _enter(invitation, person, client, current, joining, method)
            else:
                encoded = encoded or _hashed(invitation, profile, client, method)
                accepted = _sign_up(invitation, profile, encoded, client, joining, method)
        except (_Moved, errors.UserAlreadyExists):
            if attempt == _ATTEMPTS - 1:
                raise errors.UserAlreadyExists from None
        else:
            return accepted
    raise AssertionError  # the loop returns or raises


def describe(invitation: Invitation) -> dict[str, Any]:
    """What the recipient of an invitation may know: its address, and whether it has an account."""
    account = lookup.find_by_email(invitation.email)
    return {"email": invitation.email, "has_account": account is not None}


def _enter(
    invitation: Invitation,
    person: Person,
    client: Client,
    current: _RequestSession,
    join: Callable[[Person], T],
    method: str,
) -> Accepted[T]:
    joined: list[T] = []
    continued: list[Login] = []

    def joining(present: Person) -> Person | None:
        if present.email_key != invitation.email_key:
            raise _Moved
        if not present.active:
            raise errors.UserNotActive
        # `session` is that of the request, if it belongs to this account and is still valid now
        # that the account is locked.
        session, caller = None, current.caller
        if caller and verification.is_same(present, caller.person):
            session = rotation.find_valid(caller.session_id)
        if session is None:
            closing.require_unchanged_recipient(invitation, present)
        else:
            rotation.require_usable(session, current.refresh_token)
        # The first proof changes one-time tokens and the account. The lock order demands that this
        # comes before `join`, which changes the invitation.
        owner = present if session else current.visitor
        present = first_proof.confirm_address(present, client, caller=owner)
        if session is None and (refused := login.login_refusal(present)):
            raise refused  # the invitation stays pending
        joined.append(join(present))
        if session is None:
            return present
        tokens = rotation.continued(present, session, current.refresh_token)
        continued.append(Login(present, tokens=tokens, current_session=session))
        return None

    try:
        entered = login.enter(person, client, method=method, proofs=_PROOFS, change=joining)
    except login.REFUSALS as refused:
        # Outside the transaction, which the refusal has rolled back.
        login.record_failure(person, client, refused.code.lower(), method=method)
        raise
    if not joined:  # `enter` does not call `joining` if the user was deleted
        raise _Moved
    return Accepted(continued[-1] if continued else entered, False, joined[-1])


def _hashed(invitation: Invitation, profile: Profile, client: Client, method: str) -> NewPassword:
    """The hash of the password of a new account, after all checks that need no transaction."""
    if core.require_phone_verification:
        raise errors.PhoneNotVerified  # an invitation asks for no number
    # The refusal names all missing fields. If only the name is missing, it also names the rules
    # that the password breaks.
    required = {"name": profile.name, "password": profile.password}
    details: dict[str, Sequence[str]] = {
        field: [host_fields.REQUIRED] for field, value in required.items() if not value
    }
    if details and profile.password:
        try:
            password_rules.require_strong(profile.password, None)
        except errors.InvalidPassword as weak:
            details |= weak.details or {}
    if details:
        first = next(iter(details))
        raise ValidationFailed(of_field(first, details[first]), details=details)
    new_user = NewUser(email=invitation.email, name=profile.name)
    unsaved = creation.unsaved_user(new_user, "")
    encoded = passwords.hash_new_password(profile.password, unsaved)
    host_hooks.require_signup_allowed(new_user, client, method=method)
    return encoded


def _sign_up(
    invitation: Invitation,
    profile: Profile,
    encoded: NewPassword,
    client: Client,
    join: Callable[[Person], T],
    method: str,
) -> Accepted[T]:
    new_user = NewUser(email=invitation.email, name=profile.name)
    joined: list[T] = []

    def joining(person: Person) -> Person:
        events.record("auth.signup", person, client, method=method)
        verification.accept_email(person, client)
        if (refused := login.login_refusal(person)) is not None:
            raise refused  # the invitation stays pending
        joined.append(join(person))
        return person

    account = NewAccount(new_user, partial(creation.create_user, new_user, encoded))
    entered = login.enter(account, client, method=method, proofs=_PROOFS, change=joining)
    return Accepted(entered, True, joined[-1])
