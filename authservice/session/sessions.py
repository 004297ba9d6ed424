"""A user's own sessions: seeing them, ending them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.sessions.revocation import REVOKED
from authservice.core.users.person import Person
from authservice.kernel import errors, events
from authservice.kernel.client import Client
from authservice.kernel.events import Event
from authservice.session.stores import asked, store


def live(person: Person) -> list[Session]:
    """Newest first. Raises `ServiceUnavailable` where the store cannot be asked."""
    with asked():
        return list(store().live_for(person))


def find(person: Person, session_id: str) -> Session:
    """Raises `SessionNotFound`, also for what is somebody else's or over."""
    for session in live(person):
        # As text: an id has one spelling, and what is no id at all is merely unknown.
        if str(session.pk) == session_id:
            return session
    raise errors.SessionNotFound


def revoke(person: Person, session: Session, session_id: str, client: Client) -> UUID:
    """End one session and return its key; `session` is the caller's. Raises `SessionNotFound`,
    `InvalidToken`."""
    session = find(person, session_id)
    with sessions.changing(person, session):
        if not sessions.end(session.pk, REVOKED):
            raise errors.SessionNotFound
        _tell(person, client, session=session_id)
    return session.pk


def revoke_others(person: Person, kept: Session, client: Client) -> None:
    """End all sessions but one. Raises `InvalidToken`."""
    with sessions.changing(person, kept):
        ended = sessions.end_others(person, kept, REVOKED)
        if ended:
            _tell(person, client, sessions=ended)


def _tell(person: Person, client: Client, **which: Any) -> None:
    events.record(
        Event(
            action="security.session.revoked",
            user=person.user,
            client=client,
            metadata={"reason": REVOKED, **which},
        )
    )
