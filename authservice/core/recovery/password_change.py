"""Changing the password: requires the current one and ends all other sessions."""

from __future__ import annotations

from typing import Any

from authservice.core import errors
from authservice.core.credentials import lockout, passwords
from authservice.core.messages import kinds, security_notice
from authservice.core.models import Session
from authservice.core.recovery import recent_proof
from authservice.core.sessions import sessions
from authservice.core.users.creation import NewPassword
from authservice.core.users.person import Person
from authservice.kernel import events
from authservice.kernel.client import Client
from authservice.kernel.languages import phrase
from authservice.kernel.secret import Secret


def change(person: Person, session: Session, old: Secret, new: Secret, client: Client) -> Secret:
    """Change the password; returns a new device token for the client's device. All other device
    tokens are revoked.

    Raises `TooManyAttempts`, `InvalidCredentials`, `InvalidPassword`, `InvalidToken`.
    """
    try:
        recent_proof.check_password(person, old, client, method="change_password")
    except errors.InvalidCredentials:
        events.record("auth.password.change_failed", person, client)
        raise
    if new == old:
        raise errors.broken_password("new_password", [phrase("Must differ from the old one.")])
    encoded = passwords.hash_new_password(new, person.user, field="new_password")
    with sessions.changing(person, session) as present:
        if present.password != person.user.password:
            raise errors.InvalidCredentials  # the password that was checked is no longer current
        store(present, encoded, client, current_session=session)
        return lockout.replace_devices(present, client)


def store(
    person: Person,
    encoded: NewPassword,
    client: Client,
    *,
    current_session: Session | None,
    **metadata: Any,
) -> None:
    """Store the new hash in the current transaction, end all sessions but `current_session`, record
    the change with this metadata and notify the owner. The user's row must be locked."""
    before = security_notice.state_of(person)
    passwords.store(person, encoded)
    sessions.end_others(person, current_session, sessions.CHANGED)
    if current_session is not None:
        sessions.rebind_password(person, current_session)
    events.record("auth.password.changed", person, client, **metadata)
    security_notice.notify(kinds.PASSWORD_CHANGED, person, client, before)
