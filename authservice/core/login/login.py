"""The one door: every way to log in calls `enter`, and only this module starts sessions.

`enter` owns the transaction of a login. In it the way to log in makes its change, such as a link
that is used up. Then the rules, each second factor that a module has and the hook of the project
decide. The result may be a challenge: no token exists before the last factor is passed. A refusal
is raised after the commit, so that it undoes neither the change nor its audit entry.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from django.contrib import auth
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.db import DatabaseError, connections, transaction

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import lockout, passwords
from authservice.core.credentials.lockout import CountedAttempt
from authservice.core.login import host_hooks, password_recheck
from authservice.core.messages import kinds
from authservice.core.models import Session
from authservice.core.recovery import verification
from authservice.core.sessions import sessions
from authservice.core.sessions.sessions import Tokens
from authservice.core.users import identifiers, lookup
from authservice.core.users.creation import NewUser
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.errors import Fault, InvalidToken
from authservice.kernel.hooks import Refused
from authservice.kernel.interfaces import Arrival, Challenge, SecondFactor
from authservice.kernel.levels import LEGACY
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret

SIGNUP = "signup"
BY_PROJECT = "django"
# The refusals of `enter`, for the API description of the routes that call it.
REFUSALS = (
    errors.Conflict,  # of a row that a receiver of the login saves
    errors.UserNotActive,
    errors.EmailNotVerified,
    errors.PhoneNotVerified,
)


@dataclass(frozen=True)
class Login:
    """The result of a login: tokens, challenges, or neither if `change` of `enter` returned None or
    could not be called. `current_session` is the session that a signed-in client keeps, or None if
    the session is new."""

    person: Person
    tokens: Tokens | None = None
    current_session: Session | None = None
    challenges: tuple[Challenge, ...] = ()
    device_token: Secret = field(default_factory=lambda: Secret(""))


@dataclass(frozen=True)
class NewAccount:
    """A user whom the login creates. `create` runs a function of the new user in the transaction
    that stores them, as `partial(creation.create_user, new_user, encoded)` does."""

    new_user: NewUser
    create: Callable[[Callable[[Person], _Decision]], _Decision]


class NotCompleted(Exception):
    """Raised by `complete` of `enter` to refuse a login whose credentials are right. `give_back`
    is called after the rollback, to give back attempts that `enter` does not know."""

    def __init__(self, fault: Fault, give_back: Callable[[], None]) -> None:
        super().__init__(fault.code)
        self.fault, self.give_back = fault, give_back


@dataclass(frozen=True)
class _Refusal:
    """Why this user is not logged in: an error of `login_refusal`, or that of a hook."""

    person: Person
    error: Fault


_Decision: TypeAlias = Login | _Refusal


@clock.once
def with_password(
    password: Secret, client: Client, *, email: str = "", username: str = ""
) -> Login:
    """Log in by e-mail address or username. Raises as `checked_password` and `enter` do, and
    `PasswordChangeRequired`."""
    checked = checked_password(password, client, email=email, username=username)
    try:
        with checked as (accepted, attempt), lockout.refund_unless_checked(attempt.refund):
            check_may_log_in(accepted, client, method="password")
            password_recheck.require_safe(accepted, password, client, method="password")
            return enter(accepted, client, method="password", proofs=("pwd",), attempt=attempt)
    except errors.EmailNotVerified:
        if core.signup_enumeration != "hide":
            raise
        # A client that signed up could see by this refusal that the address was free. The password
        # counts as a wrong one everywhere, since counters can be seen too.
        lockout.count_network(None, client)
        raise errors.InvalidCredentials from None


@contextmanager
def checked_password(
    password: Secret,
    client: Client,
    *,
    email: str = "",
    username: str = "",
    method: str = "password",
) -> Iterator[tuple[Person, CountedAttempt]]:
    """Check the password; yields the user and the counted attempt.

    The block gives the attempt back once the login succeeds. Until its end, no other attempt at
    the same counter is counted in this process: right passwords at the same time do not use up the
    limit of wrong ones. An unknown identifier, a wrong password and an unusable one get the same
    answer after exactly one hash. The attempt is counted before the password is checked. Raises
    `ServiceUnavailable`, `TooManyRequests`, `TooManyAttempts` and `InvalidCredentials`.
    """
    person = lookup.find_by_email(email) if email else lookup.find_by_username(username)
    name = "email" if email else "username"
    with _counted(person, name, email or username, password, client) as checked:
        if checked is not None:
            yield checked
            return
    record_failure(person, client, "invalid_credentials", method=method)
    # The same name that backends are called with: otherwise a package that counts failures per user
    # would count these separately.
    login_name = person.user.get_username() if person else email or username
    # As Django's own `authenticate` sends it.
    user_login_failed.send(
        sender=auth.__name__, credentials={host().natural: login_name}, request=client.http
    )
    raise errors.InvalidCredentials


@databases.outside_transactions
def check_own_password(person: Person, password: Secret, client: Client, *, method: str) -> None:
    """Check the password of a signed-in user as a login does, with the same counters. `method`
    names the route in the audit log. Raises as `checked_password` does."""
    name = "email" if person.email else "username"
    typed = person.email or str(person.user.get_username())
    with _counted(person, name, typed, password, client, method=method) as checked:
        # A backend of the project may accept another user by this name.
        if checked is not None and checked[0].user.pk == person.user.pk:
            accepted, attempt = checked
            person.user.password = accepted.user.password  # the check may have upgraded the hash
            attempt.refund()
            return
    raise errors.InvalidCredentials


@contextmanager
def _counted(
    person: Person | None,
    name: str,
    typed: str,
    password: Secret,
    client: Client,
    *,
    method: str = "",
) -> Iterator[tuple[Person, CountedAttempt] | None]:
    """Count an attempt and check the password; yields None if it is wrong. `name` is what `typed`
    is: "email" or "username"."""
    key = identifiers.email_key(typed) if name == "email" else identifiers.username_key(typed)
    action = "security.account.throttled"
    report = partial(events.record, action, person, client, reason="throttled")
    if method:
        report = partial(report, method=method)
    with lockout.turn(key, person, client, report=report) as attempt:

        def refund() -> None:
            attempt.refund()
            attempt.refund_throttle()

        with lockout.refund_unless_checked(refund):
            accepted = passwords.check(person, name, typed, password, client)
        if accepted is None:
            yield None
            return
        attempt.refund_throttle()
        yield accepted, attempt
        # Not reached if the block refuses the user.
        passwords.tell_waiting_validators(accepted, password)


@clock.once
def enter(
    subject: Person | NewAccount,
    client: Client,
    *,
    method: str,
    proofs: tuple[str, ...],
    attempt: CountedAttempt | None = None,
    change: Callable[[Person], Person | None] | None = None,
    complete: Callable[[Person], None] | None = None,
    then: Callable[[Login], None] | None = None,
    pending: Mapping[str, Any] | None = None,
) -> Login:
    """Issue tokens to a client that proved to be `subject`, or the challenges that remain.

    `method` names the way to sign in, `proofs` the authentication methods (RFC 8176), `attempt` the
    attempt to give back.

    `change` is called first in the transaction of the login, with the user as they are now, whose
    row is locked until its end; it is not called if the user was deleted since. It returns the user
    after the change, or None if the client is not logged in now. If it raises an error, nothing is
    stored. A refusal of the user after it does store the change. `complete` is called before the
    session begins, if no challenge remains and nothing refuses the login. If it raises
    `NotCompleted`, nothing is stored, the attempt is given back, and its error is raised and, but
    for `InvalidToken`, recorded. `then` is called last in that transaction with the tokens or
    challenges. `pending` is described at `Arrival`.

    Raises one of `REFUSALS`, `Refused` of a hook, and without `change` `InvalidCredentials` if the
    user was deleted since.
    """
    if isinstance(subject, NewAccount):
        prepared = host_hooks.prepare_signup(subject.new_user, client, method=method, proofs=proofs)
    else:
        if change is None:
            check_may_log_in(subject, client, method=method)
        prepared = host_hooks.prepare(subject.user, client, method=method, proofs=proofs)

    def decide(person: Person) -> _Decision:
        changed = change(person) if change else person
        if changed is None:
            return Login(person)
        if (fault := login_refusal(changed)) is not None:
            return _Refusal(changed, fault)
        arrival = Arrival(
            person=changed, client=client, method=method, proofs=proofs, pending=pending or {}
        )
        asked_for = (factor.ask(arrival) for factor in plugs(SecondFactor))
        challenges = tuple(challenge for challenge in asked_for if challenge is not None)
        if challenges:
            if attempt:
                attempt.refund()
            events.record("auth.login.challenged", changed, client, method=method)
            outcome = Login(changed, challenges=challenges)
        elif (refused := host_hooks.refusal(arrival, prepared)) is not None:
            record_failure(changed, client, refused.code.lower(), method=method)
            return _Refusal(changed, refused)
        else:
            if complete:
                complete(changed)
            outcome = _start_session(arrival, attempt)
        if then:
            then(outcome)
        return outcome

    if isinstance(subject, NewAccount):
        decision = subject.create(decide)
    else:
        try:
            decision = _decided(subject, decide, client, method, lock=change is not None)
        except NotCompleted as refusal:
            if attempt:
                attempt.refund()
            refusal.give_back()
            # The caller records an answer that is too late, whatever the reason is.
            if not isinstance(refusal.fault, InvalidToken):
                record_failure(subject, client, refusal.fault.code.lower(), method=method)
            raise refusal.fault from None
    if isinstance(decision, Login):
        return decision
    if isinstance(decision.error, Refused):  # `decide` has recorded the refusal of a hook
        raise decision.error.of_login(is_new=isinstance(subject, NewAccount))
    _report(decision.person, client, decision.error, method)
    raise decision.error


def _decided(
    person: Person,
    decide: Callable[[Person], _Decision],
    client: Client,
    method: str,
    *,
    lock: bool,
) -> _Decision:
    """Run `decide` in a transaction. With `lock`, lock the user and read them again first."""
    try:
        with transaction.atomic(using=databases.primary()):
            if not lock:
                return decide(person)
            passwords.lock_user(person)
            present = lookup.find_by_pk(person.user.pk)
            return decide(present) if present else Login(person)
    except (DatabaseError, errors.Conflict) as error:
        # An enclosing transaction is aborted by now, and no query can run in it.
        if connections[databases.primary()].in_atomic_block:
            raise
        if lookup.find_by_pk(person.user.pk) is not None:
            raise
        # The user was deleted since the credentials were checked.
        record_failure(person, client, "invalid_credentials", method=method)
        raise errors.InvalidCredentials from error


def by_project(user: Any, client: Client) -> Tokens | None:
    """A session of a user whom code of the project logged in by Django's `login`, such as a package
    by which staff act as another user; None for a user who may not log in.

    That code decided who it is, so no factor is asked for. The session proves nothing: like one of
    another package, it never counts as a recent login.
    """
    with transaction.atomic(using=databases.primary()):
        passwords.lock_users([user.pk])
        person = lookup.find_or_create(user.pk)
        if person is None or login_refusal(person):
            return None
        session = sessions.begin(
            person, client, amr=LEGACY, method=BY_PROJECT, device_id=uuid.uuid4()
        )
        sessions.insertion(session).run()
        events.record("auth.login.success", person, client, method=BY_PROJECT)
        return sessions.issue_tokens(person, session)


def check_may_log_in(person: Person, client: Client, *, method: str) -> None:
    """Raises `UserNotActive`, `EmailNotVerified` or `PhoneNotVerified`, and records the refusal. In
    the last case it may text a code to the user, who has proven to own the account.

    Call it before a transaction that the refusal would roll back: the audit entry would be rolled
    back too.
    """
    fault = login_refusal(person)
    if fault is not None:
        _report(person, client, fault, method)
        raise fault


def _report(person: Person, client: Client, fault: Fault, method: str) -> None:
    record_failure(person, client, fault.code.lower(), method=method)
    if isinstance(fault, errors.PhoneNotVerified):
        verification.text_if_shared(person, client)


def record_failure(person: Person | None, client: Client, reason: str, *, method: str) -> None:
    """Record a failed login; `person` is the user whom the client tried to log in as, if known.

    Call it outside of every transaction that the refusal rolls back.
    """
    events.record("auth.login.failed", person, client, reason=reason, method=method)


def login_refusal(person: Person) -> Fault | None:
    """Why this user may not log in, with any credentials; None if they may."""
    if not person.active:
        return errors.UserNotActive()
    if core.require_email_verification and not person.email_verified:
        return errors.EmailNotVerified()
    if core.require_phone_verification and not person.phone_number_verified:
        return errors.PhoneNotVerified()
    return None


def _start_session(arrival: Arrival, attempt: CountedAttempt | None) -> Login:
    person, client, method = arrival.person, arrival.client, arrival.method
    recorded = events.Batch()
    known_device = lockout.find_device(client.device, person)
    # The sign-up has stored the device of this client with the account.
    if known_device is None and method == SIGNUP:
        known_device = lockout.first_device(person)
    device_id = known_device or uuid.uuid4()
    amr = " ".join(arrival.proofs)
    session = sessions.begin(person, client, amr=amr, method=method, device_id=device_id)
    if known_device is None and _has_logged_in(person):
        recorded.add("security.new_device", person, client)
        using, details = databases.primary(), message_queue.describe_client(client)
        message_queue.send(kinds.NEW_DEVICE, person.email, client, using=using, details=details)
    if method != SIGNUP:
        recorded.add("auth.login.success", person, client, method=method)
    # In the lock order: users (`last_login`), attempts, accounts.
    writes = [attempt.refund_statement()] if attempt else []
    if known_device is None:
        writes.append(lockout.device_addition(person, device_id))
    writes += [*recorded.statements(), sessions.insertion(session)]
    # Django's receiver of this signal writes `last_login`. If a receiver of the host raises, the
    # login fails, as in Django's own login(). `last_login` is written first: on MySQL and MariaDB a
    # new session row takes a shared lock on its user's row. If two logins both held that lock,
    # neither could write the user's row: a deadlock.
    with host_hooks.followed_by(person.user, *writes):
        user_logged_in.send(sender=type(person.user), request=client.http, user=person.user)
    recorded.notify()
    return Login(
        person,
        tokens=sessions.issue_tokens(person, session),
        device_token=lockout.device_token(person, device_id),
    )


def _has_logged_in(person: Person) -> bool:
    """Whether the user has logged in before. A project need not store `last_login`, so sessions
    tell too. They are read only if an account may have some: each login stores its device, and a
    revocation of all devices increases their version. Devices alone do not tell: a sign-up stores
    one also if it does not log the user in."""
    if person.last_login_at is not None:
        return True
    may_have_sessions = lockout.device_ids(person) or person.device_version
    return bool(may_have_sessions) and Session.objects.filter(user=person.user.pk).exists()
