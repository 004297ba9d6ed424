"""Log out: the current session ends with all its tokens; other sessions stay valid."""

from __future__ import annotations

from django.contrib.auth.signals import user_logged_out

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import errors, events
from authservice.kernel.client import Client


def log_out(person: Person, session: Session, client: Client) -> None:
    """Raises `InvalidToken` if the session has ended since the request was authenticated."""
    with sessions.changing(person, session):
        if not sessions.end(session.pk, sessions.LOGOUT):
            raise errors.InvalidToken
        events.record("auth.logout", person, client)
    # The session has ended: an exception of a receiver must not tell the client that it is open.
    # Django logs it.
    user_logged_out.send_robust(sender=type(person.user), request=client.http, user=person.user)
