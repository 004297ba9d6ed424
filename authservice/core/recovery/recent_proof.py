"""A recent proof: the current password in the request, or a session that began recently.

A stolen access token alone must not be enough to change how the owner recovers the account.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from django.utils import timezone

from authservice.core.conf import core
from authservice.core.credentials import attempt_counter, lockout, passwords
from authservice.core.models import Session
from authservice.core.users.person import Person
from authservice.kernel import errors, events
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret

RECENT = timedelta(minutes=10)


def check_password(person: Person, password: Secret, client: Client, *, method: str) -> None:
    """Check the current password; the attempt is counted first. `method` names the route in the
    audit log.

    Raises `TooManyAttempts`, `InvalidCredentials`, or `ServiceUnavailable` if too many passwords
    are being hashed. Must not be called within a transaction that the refusal would roll back.
    """
    attempt = lockout.by_password_change(person)
    action = "security.account.throttled"
    report = partial(events.record, action, person, client, reason="throttled", method=method)
    attempt_counter.consume(attempt, attempt_counter.PASSWORD, report=report)
    with lockout.refund_unless_checked(partial(attempt_counter.refund, attempt)):
        accepted = passwords.check(person, person.user.get_username(), password, client)
    if accepted is None or accepted.user.pk != person.user.pk:
        raise errors.InvalidCredentials
    attempt_counter.refund(attempt)


def require_recent(
    person: Person, session: Session, password: Secret, client: Client, *, method: str
) -> None:
    """Check the password if the client sent one, and record a wrong one. Without it the session
    must be recent if `CORE.REQUIRE_RECENT_PROOF` is set.

    Raises as `check_password` does, and `ReauthenticationRequired`.
    """
    if password:
        _require_password(person, password, client, method=method)
    elif core.require_recent_proof and not is_recent(session):
        raise errors.ReauthenticationRequired


def _require_password(person: Person, password: Secret, client: Client, *, method: str) -> None:
    try:
        check_password(person, password, client, method=method)
    except errors.InvalidCredentials:
        # An attacker with a stolen session tries passwords here, so the owner must see the failure.
        events.record("auth.reauthentication.failed", person, client, method=method)
        raise


def is_recent(session: Session) -> bool:
    """Whether the user logged in at most 10 minutes ago; a refresh does not count."""
    # Read from the primary database: a deferred field would be loaded from a replica.
    rows = Session.objects.filter(pk=session.pk)
    return rows.filter(auth_time__gte=timezone.now() - RECENT).exists()
