"""The one door: every way to log in ends here, and only this module starts sessions.

`complete` checks whether the user may log in at all, then asks each second factor that a module
has. It may return a challenge, which is a normal result. No token exists before the last factor is
passed.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from django.contrib import auth
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.db import DatabaseError, connections, transaction

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import known_devices, lockout, passwords
from authservice.core.credentials.lockout import CountedAttempt
from authservice.core.login import hook_calls, last_login
from authservice.core.login.hook_calls import Prepared
from authservice.core.messages import kinds
from authservice.core.models import Session
from authservice.core.recovery import verification
from authservice.core.sessions import sessions
from authservice.core.sessions.sessions import Tokens
from authservice.core.users import host_fields, identifiers, lookup
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.errors import Fault
from authservice.kernel.hooks import Refused
from authservice.kernel.interfaces import Arrival, Challenge, SecondFactor
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret

SIGNUP = "signup"
# The refusals of `complete`, for the API description of the routes that call it.
REFUSALS = (
    errors.Conflict,  # of a row that a receiver of the login saves
    errors.UserNotActive,
    errors.EmailNotVerified,
    errors.PhoneNotVerified,
)


@dataclass(frozen=True)
class Login:
    """The result of a login: tokens, challenges, or neither if the user must be verified first or
    a hook of the host project refused. `kept` is the session that a signed-in client keeps, or None
    if the session is new."""

    person: Person
    tokens: Tokens | None = None
    kept: Session | None = None
    challenges: tuple[Challenge, ...] = ()
    device_token: Secret = field(default_factory=lambda: Secret(""))
    refusal: Refused | None = None

    def admitted(self) -> Login:
        """This result. Raises the refusal of the hook, if there is one.

        Every caller of `complete` must call it outside of its transactions, which a refusal must
        not roll back.
        """
        if self.refusal is not None:
            raise self.refusal
        return self


@clock.once
def with_password(
    password: Secret, client: Client, *, email: str = "", username: str = ""
) -> Login:
    """Log in by e-mail address or username. Raises as `checked_password` and `complete` do, and
    `Refused`."""
    checked = checked_password(password, client, email=email, username=username)
    try:
        with checked as (accepted, attempt), lockout.refund_unless_checked(attempt.refund):
            outcome = complete(
                accepted, client, method="password", proofs=("pwd",), attempt=attempt
            )
    except errors.EmailNotVerified:
        if core.signup_enumeration != "hide":
            raise
        # A client that signed up could see by this refusal that the address was free. The password
        # counts as a wrong one everywhere, since counters can be seen too.
        lockout.count_throttle(client.network)
        raise errors.InvalidCredentials from None
    return outcome.admitted()


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
    the same counter is counted in this process: right passwords at once do not use up the limit of
    wrong ones. An unknown identifier, a wrong password and an unusable one get the same answer
    after exactly one hash. The attempt is counted before the password is checked. Raises
    `ServiceUnavailable`, `TooManyRequests`, `TooManyAttempts` and `InvalidCredentials`.
    """
    person = lookup.find_by_email(email) if email else lookup.find_by_username(username)
    key = identifiers.email_key(email) if email else identifiers.username_key(username)
    action = "security.account.throttled"
    report = partial(events.record, action, person, client, reason="throttled")
    with lockout.turn(key, person, client):
        attempt = lockout.count(key, person, client, report=report)

        def refund() -> None:
            attempt.refund()
            attempt.refund_throttle()

        name = "email" if email else "username"
        with lockout.refund_unless_checked(refund):
            accepted = passwords.check(person, name, email or username, password, client)
        if accepted is not None:
            attempt.refund_throttle()
            yield accepted, attempt
            # Not reached if the block refuses the user.
            passwords.tell_waiting_validators(accepted, password)
            return
    _fail(person, email or username, client, method)
    raise errors.InvalidCredentials


@clock.once
def complete(
    person: Person,
    client: Client,
    *,
    method: str,
    proofs: tuple[str, ...],
    attempt: CountedAttempt | None = None,
    prepared: Prepared | None = None,
    recorded: events.Batch | None = None,
) -> Login:
    """Issue tokens to a client that proved to be `person`, or the challenges that remain.

    `method` names the way to sign in, `proofs` the authentication methods (RFC 8176), `attempt` the
    attempt to give back. In a transaction of the caller, `prepared` is the result of
    `hook_calls.prepare`, called before that transaction, and `recorded` are its events, which are
    stored here. The caller calls `admitted` of the result after its transaction. Raises as
    `check_may_log_in` does, and `InvalidCredentials` if the user was deleted since.
    """
    check_may_log_in(person, client, method=method)
    if prepared is None:
        prepared = hook_calls.prepare(person.user, client, method=method, proofs=proofs)
    arrival = Arrival(person=person, client=client, method=method, proofs=proofs)
    try:
        with transaction.atomic(using=databases.primary(), savepoint=False):
            return _run_gates(arrival, attempt, prepared, recorded or events.Batch())
    except (DatabaseError, errors.Conflict) as wrong:
        if not _is_gone(person):
            raise
        record_failure(person, client, "invalid_credentials", method=method)
        raise errors.InvalidCredentials from wrong


def _run_gates(
    arrival: Arrival, attempt: CountedAttempt | None, prepared: Prepared, recorded: events.Batch
) -> Login:
    person, client, method = arrival.person, arrival.client, arrival.method
    challenges = _challenges(arrival)
    refusal = None if challenges else hook_calls.refusal(arrival, prepared)
    if not challenges and refusal is None:
        return _start_session(arrival, attempt, recorded)
    recorded.run()
    if refusal is not None:
        record_failure(person, client, refusal.code.lower(), method=method)
        return Login(person, refusal=refusal)
    if attempt:
        attempt.refund()
    events.record("auth.login.challenged", person, client, method=method)
    return Login(person, challenges=challenges)


def _is_gone(person: Person) -> bool:
    # An enclosing transaction is aborted by now, and no query can run in it.
    asked = not connections[databases.primary()].in_atomic_block
    return asked and lookup.find_by_pk(person.user.pk) is None


def check_may_log_in(person: Person, client: Client, *, method: str) -> None:
    """Raises `UserNotActive`, `EmailNotVerified` or `PhoneNotVerified`, and records the refusal. In
    the last case it may text a code to the user, who has proven to own the account.

    Call it before a transaction that the refusal would roll back: the audit entry would be rolled
    back too.
    """
    fault = login_refusal(person)
    if fault is not None:
        record_failure(person, client, fault.code.lower(), method=method)
        if isinstance(fault, errors.PhoneNotVerified):
            verification.text_if_shared(person, client)
        raise fault


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


def _challenges(arrival: Arrival) -> tuple[Challenge, ...]:
    asked = (factor.ask(arrival) for factor in plugs(SecondFactor))
    return tuple(challenge for challenge in asked if challenge is not None)


def _start_session(
    arrival: Arrival, attempt: CountedAttempt | None, recorded: events.Batch
) -> Login:
    person, client, method = arrival.person, arrival.client, arrival.method
    known = known_devices.known(client.device_token, person)
    if known is None and method == SIGNUP:
        known = known_devices.first_device(person)
    device_id = known or uuid.uuid4()
    amr = " ".join(arrival.proofs)
    session = sessions.begin(person, client, amr=amr, method=method, device_id=device_id)
    if known is None and person.last_login_at is not None:
        recorded.add("security.new_device", person, client)
        _notify_about_new_device(person, client)
    if method != SIGNUP:
        recorded.add("auth.login.success", person, client, method=method)
    # In the lock order: users (`last_login`), attempts, accounts.
    writes = [attempt.refund_statement()] if attempt else []
    if known is None:
        writes.append(known_devices.addition(person, device_id))
    writes += [*recorded.statements(), sessions.insertion(session)]
    # Django's receiver of this signal writes `last_login`. If a receiver of the host raises, the
    # login fails, as in Django's own login(). `last_login` is written first: on MySQL and MariaDB a
    # new session row takes a shared lock on its user's row. If two logins both held that lock,
    # neither could write the user's row: a deadlock.
    with (
        last_login.refusals_kept_apart(),
        host_fields.saving(),
        last_login.followed_by(person.user, *writes),
    ):
        user_logged_in.send(sender=type(person.user), request=client.http, user=person.user)
    recorded.notify()
    return Login(
        person,
        tokens=sessions.issue_tokens(person, session),
        device_token=known_devices.token(person, device_id),
    )


def _notify_about_new_device(person: Person, client: Client) -> None:
    using, seen = databases.primary(), message_queue.describe_client(client)
    message_queue.send(kinds.NEW_DEVICE, person.email, client, using=using, details=seen)


def _fail(person: Person | None, typed: str, client: Client, method: str) -> None:
    record_failure(person, client, "invalid_credentials", method=method)
    # The same name that backends are called with: otherwise a package that counts failures per user
    # would count these separately.
    name = person.user.get_username() if person else typed
    # As Django's own `authenticate` sends it.
    user_login_failed.send(
        sender=auth.__name__, credentials={host().natural: name}, request=client.http
    )
