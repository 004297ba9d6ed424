"""The rules of the session module: the idle timeout, the limit per user and the store.

Fills the slot `login_policy`. While the store is unavailable, requests are answered with 503.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from authservice.core.users.person import Person
from authservice.kernel import errors
from authservice.kernel.client import Client
from authservice.kernel.interfaces import Lifetimes, LiveSession, refuses
from authservice.kernel.retries import after_commit
from authservice.kernel.sections import root
from authservice.session import limit, stores
from authservice.session.conf import conf

_TOUCH_INTERVAL = timedelta(minutes=5)


@refuses(errors.ServiceUnavailable)
class SessionPolicy:
    """The login policy of the session module."""

    @property
    def ended(self) -> Callable[[Sequence[UUID]], None] | None:
        """The store's `end`, or None if it has nothing to do."""
        store = stores.store()
        inherited = getattr(type(store), "end", None) is stores.DatabaseStore.end
        return None if inherited else store.end

    def checks_every_request(self) -> bool:
        return True

    def lifetimes(self) -> Lifetimes:
        return Lifetimes(conf.idle_ttl or root.refresh_token_ttl, root.session_ttl)

    def begin(self, person: Person, session: LiveSession, client: Client) -> None:
        if conf.max_per_user:
            limit.make_room(person, client, most=conf.max_per_user)
        with stores.unavailable_on_error():
            stores.store().begin(session)

    def alive(self, session: LiveSession) -> bool:
        with stores.unavailable_on_error():
            return stores.store().alive(session)

    def use(self, session: LiveSession) -> bool:
        now = timezone.now()
        if now >= min(session.idle_expires_at, session.expires_at) or not self.alive(session):
            return False
        idle = self.lifetimes().idle
        # More often if the idle timeout is short: a session loses at most a quarter of it.
        if now - session.last_used_at >= min(_TOUCH_INTERVAL, idle / 4):
            _touch(session, now, now + idle)
        return True


policy = SessionPolicy()


def _touch(session: LiveSession, now: datetime, until: datetime) -> None:
    def touch() -> None:
        stores.store().touch(session, now=now, until=until)

    # After commit: a view of the host project may be one transaction, which would otherwise hold
    # the lock on the row until its end.
    after_commit(touch)
