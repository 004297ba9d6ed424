"""What sessions are beyond sign-ins: they idle out, there are so many of them, a store watches.

Fills the slot `login_policy`. A store that cannot be asked opens nothing: 503.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from authservice.core.users.person import Person
from authservice.kernel import databases, errors
from authservice.kernel.client import Client
from authservice.kernel.interfaces import Lifetimes, LiveSession, refuses
from authservice.kernel.sections import root
from authservice.session import limit, stores
from authservice.session.conf import conf

_TOUCHED_EVERY = timedelta(minutes=5)


@refuses(errors.ServiceUnavailable)
class SessionPolicy:
    """The life of sessions."""

    @property
    def ended(self) -> Callable[[Sequence[UUID]], None] | None:
        """The store's own `end`, where it has something to do."""
        store = stores.store()
        idle = getattr(type(store), "end", None) is stores.DatabaseStore.end
        return None if idle else store.end

    def checks_every_request(self) -> bool:
        return True

    def lifetimes(self) -> Lifetimes:
        return Lifetimes(conf.idle_ttl or root.refresh_token_ttl, root.session_ttl)

    def begin(self, person: Person, session: LiveSession, client: Client, *, held: bool) -> None:
        if conf.max_per_user:
            limit.make_room(person, client, most=conf.max_per_user, held=held)
        with stores.asked():
            stores.store().begin(session)

    def alive(self, session: LiveSession) -> bool:
        with stores.asked():
            return stores.store().alive(session)

    def use(self, session: LiveSession) -> bool:
        now = timezone.now()
        if now >= min(session.idle_expires_at, session.expires_at) or not self.alive(session):
            return False
        idle = self.lifetimes().idle
        # More often where sessions idle out soon: at most a quarter of that time is lost.
        if now - session.last_used_at >= min(_TOUCHED_EVERY, idle / 4):
            _touch(session, now, now + idle)
        return True


policy = SessionPolicy()


def _touch(session: LiveSession, now: datetime, until: datetime) -> None:
    def touch() -> None:
        stores.store().touch(session, now=now, until=until)

    # After the commit where a host's view is one transaction: the row's lock would be held as long.
    transaction.on_commit(touch, using=databases.primary(), robust=True)
