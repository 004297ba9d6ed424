"""The rules of the session module: the idle timeout, the limit per user and the store.

Fills the slot `login_policy`. While the store is unavailable, requests are answered with 503.

With `MAX_PER_USER`, a new session ends the oldest ones. The user's row is locked before the
sessions are counted and until the new one is committed. So concurrent logins are serialised, and
each counts the session of the login before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from authservice.core.credentials import passwords
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import clock, errors, events, transactions
from authservice.kernel.client import Client
from authservice.kernel.interfaces import Lifetimes, LiveSession, LoginPolicy
from authservice.kernel.retries import after_commit
from authservice.kernel.sections import root
from authservice.session import stores
from authservice.session.conf import conf

LIMIT = "limit"


@transactions.inside
def make_room(person: Person, client: Client, *, most: int) -> None:
    """End the oldest sessions so that at most `most` remain with a new one."""
    passwords.lock_users([person.user.pk])
    now = clock.now()
    rows = Session.objects.filter(
        user=person.user.pk, ended_at=None, idle_expires_at__gt=now, expires_at__gt=now
    )
    surplus = rows.order_by("-created_at", "-pk")[most - 1 :].values_list("pk", flat=True)
    for pk in list(surplus):
        # One at a time, because another request may have ended it in the meantime: an event is
        # recorded only for a session that ends here.
        if sessions.end(pk, LIMIT):
            action = "security.session.revoked"
            events.record(action, person, client, reason=LIMIT, session=str(pk))


class SessionPolicy(LoginPolicy):
    """The login policy of the session module."""

    faults = (errors.ServiceUnavailable,)

    @property
    def ended(self) -> Callable[[Sequence[UUID]], None] | None:
        """The store's `end`, or None if it has nothing to do."""
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
        return self.use(session)


policy = SessionPolicy()


def _touch(session: LiveSession, now: datetime, until: datetime) -> None:
    def touch() -> None:
        stores.store().touch(session, now=now, until=until)

    # After commit: a view of the host project may be one transaction, which would otherwise hold
    # the lock on the row until its end.
    after_commit(touch)
