"""The rules of the session module: the idle timeout, the limit per user, the store, and the
sessions that a user lists and revokes.

Fills the slot `login_policy`. While the store is unavailable, requests are answered with 503.

With `MAX_PER_USER`, a new session ends the oldest ones. The user's row is locked before the
sessions are counted and until the new one is committed. So concurrent logins are serialised, and
each counts the session of the login before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from authservice.core.credentials import passwords
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.sessions.revocation import REVOKED
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, errors, events
from authservice.kernel.client import Client
from authservice.kernel.interfaces import Lifetimes, LiveSession, LoginPolicy, Page
from authservice.kernel.sections import root
from authservice.session import stores
from authservice.session.conf import conf
from authservice.session.errors import SessionNotFound

LIMIT = "limit"
_ACTION = "security.session.revoked"


class SessionPolicy(LoginPolicy):
    """The login policy of the session module."""

    faults = (errors.ServiceUnavailable,)

    @property
    def ended(self) -> Callable[[Sequence[UUID]], None] | None:
        """The store's `end`, or None for a store whose `end` does nothing."""
        store = stores.store()
        inherited = getattr(type(store), "end", None) is stores.DatabaseStore.end
        return None if inherited else store.end

    def lifetimes(self) -> Lifetimes:
        return Lifetimes(conf.idle_ttl or root.refresh_token_ttl, root.session_ttl)

    def begin(self, person: Person, session: LiveSession, client: Client) -> None:
        if conf.max_per_user:
            make_room(person, client, most=conf.max_per_user)
        with stores.unavailable_on_error():
            stores.store().begin(session)

    def alive(self, session: LiveSession) -> bool:
        with stores.unavailable_on_error():
            return stores.store().alive(session)

    def use(self, session: LiveSession) -> bool:
        now = clock.now()
        if now >= min(session.idle_expires_at, session.expires_at) or not self.alive(session):
            return False
        if idle := sessions.idle_to_renew(session):
            _touch(session, now, now + idle)
        return True

    def use_without_token(self, session: LiveSession) -> bool:
        """`use` checks the expiry and moves the idle timeout already."""
        return self.use(session)


policy = SessionPolicy()


@databases.inside_transaction
def make_room(person: Person, client: Client, *, most: int) -> None:
    """End the oldest sessions of the user, so that there are at most `most` with the new one."""
    passwords.lock_users([person.user.pk])
    now = clock.now()
    rows = Session.objects.filter(
        user=person.user.pk, ended_at=None, idle_expires_at__gt=now, expires_at__gt=now
    )
    surplus = rows.order_by("-created_at", "-pk")[most - 1 :].values_list("pk", flat=True)
    for pk in list(surplus):
        # One at a time, because another request may have ended the session in the meantime: an
        # event is recorded only for a session that ends here.
        if sessions.end(pk, LIMIT):
            events.record(_ACTION, person, client, reason=LIMIT, session=str(pk))


def _touch(session: LiveSession, now: datetime, until: datetime) -> None:
    def touch() -> None:
        stores.store().touch(session, now=now, until=until)

    # After commit: a view of the host project may be one transaction, which would otherwise hold
    # the lock on the row until its end.
    databases.after_commit(touch)


def live(person: Person) -> list[Session]:
    """The valid sessions, newest first. Raises `ServiceUnavailable` if the store fails."""
    with stores.unavailable_on_error():
        return list(stores.store().live_for(person))


def page_of(person: Person, page: Page) -> tuple[list[Session], int]:
    """The valid sessions on a page, and the number of all. Raises `ServiceUnavailable` as `live`
    does."""
    with stores.unavailable_on_error():
        live_rows = stores.store().live_for(person)
        rows = list(page.cut(live_rows))
        # A store that filters the rows returns a list of all of them.
        count = live_rows.count if isinstance(live_rows, QuerySet) else live_rows.__len__
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
    """Revoke one session and return its id; `own` is the session of the caller. Raises
    `SessionNotFound`, `InvalidToken`."""
    session = find(person, session_id)
    with sessions.changing(person, own):
        if not sessions.end(session.pk, REVOKED):
            raise SessionNotFound
        events.record(_ACTION, person, client, reason=REVOKED, session=session_id)
    return session.pk


def revoke_others(person: Person, current_session: Session, client: Client) -> None:
    """Revoke all sessions except `current_session`, that of the caller. Raises `InvalidToken`."""
    with sessions.changing(person, current_session):
        count = sessions.end_others(person, current_session, REVOKED)
        if count:
            events.record(_ACTION, person, client, reason=REVOKED, sessions=count)
