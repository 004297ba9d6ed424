"""A user's own sessions: list and revoke them."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.sessions.revocation import REVOKED
from authservice.core.users.person import Person
from authservice.kernel import events
from authservice.kernel.client import Client
from authservice.kernel.paging import Page
from authservice.session.errors import SessionNotFound
from authservice.session.stores import store, unavailable_on_error

_ACTION = "security.session.revoked"


def live(person: Person) -> list[Session]:
    """The valid sessions, newest first. Raises `ServiceUnavailable` if the store fails."""
    with unavailable_on_error():
        return list(store().live_for(person))


def page_of(person: Person, page: Page) -> tuple[list[Session], int]:
    """Those on a page, and how many there are. Raises `ServiceUnavailable` as `live` does."""
    with unavailable_on_error():
        found = store().live_for(person)
        rows = list(page.cut(found))
        # A store that filters the rows has read all of them.
        count = found.count if isinstance(found, QuerySet) else found.__len__
        return rows, page.total(rows, count)


def find(person: Person, session_id: str) -> Session:
    """A valid session of the user. Raises `SessionNotFound`, also for an ended session or one of
    another user."""
    for session in live(person):
        # Compared as text: only the canonical form of an id matches; invalid ids are not found.
        if str(session.pk) == session_id:
            return session
    raise SessionNotFound


def revoke(person: Person, own: Session, session_id: str, client: Client) -> UUID:
    """Revoke one session and return its id; `own` is that of the caller. Raises `SessionNotFound`,
    `InvalidToken`."""
    session = find(person, session_id)
    with sessions.changing(person, own):
        if not sessions.end(session.pk, REVOKED):
            raise SessionNotFound
        events.record(_ACTION, person, client, reason=REVOKED, session=session_id)
    return session.pk


def revoke_others(person: Person, kept: Session, client: Client) -> None:
    """Revoke all sessions except `kept`, that of the caller. Raises `InvalidToken`."""
    with sessions.changing(person, kept):
        ended = sessions.end_others(person, kept, REVOKED)
        if ended:
            events.record(_ACTION, person, client, reason=REVOKED, sessions=ended)
