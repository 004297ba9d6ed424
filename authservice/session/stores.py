"""Session stores: a second source, besides the database, that can end sessions.

The rows are core's and always in the database, and every request reads them, regardless of the
store. So a store can only refuse a session. Entries that it loses, misses or receives late never
make an ended session valid again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import cast
from uuid import UUID

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import errors, settings
from authservice.kernel.errors import Fault
from authservice.kernel.interfaces import LiveSession, SessionStore
from authservice.kernel.sections import root
from authservice.session import revocation_cache
from authservice.session.conf import conf

logger = logging.getLogger("authservice.session")

# Entries are kept longer than an access token is valid, since clocks of machines differ.
_CACHED_LONGER = timedelta(minutes=5)


class DatabaseStore:
    """No second source: the rows in the database decide alone."""

    def begin(self, session: LiveSession) -> None:
        """Nothing to do: core inserts the row."""

    def alive(self, session: LiveSession) -> bool:
        return True

    def touch(self, session: LiveSession, *, now: datetime, until: datetime) -> None:
        sessions.touch(session, now=now, until=until)

    def end(self, ids: Sequence[UUID]) -> None:
        """Nothing to do: core has ended the rows."""

    def live_for(self, person: Person) -> Sequence[Session]:
        rows = sessions.active_sessions(person).order_by("-created_at", "-pk")
        return cast(Sequence[Session], rows)  # not read yet: a list has pages


class CacheStore(DatabaseStore):
    """Writes each ended session to a Django cache, for as long as its access tokens could be valid.

    The cache lists only ended sessions, so no entry has to be removed and no stale entry can
    contradict the database. Other services that share the cache, such as one that verifies only
    signatures, can find ended sessions there.
    """

    def begin(self, session: LiveSession) -> None:
        # Query the cache first: no session is created that could not be revoked in the cache.
        self.alive(session)

    def alive(self, session: LiveSession) -> bool:
        return not revocation_cache.is_revoked(conf.cache, session.id)

    def end(self, ids: Sequence[UUID]) -> None:
        revocation_cache.mark_revoked(conf.cache, ids, root.access_token_ttl + _CACHED_LONGER)

    def live_for(self, person: Person) -> list[Session]:
        found = list(super().live_for(person))
        ended = revocation_cache.revoked(conf.cache, [session.pk for session in found])
        return [session for session in found if session.pk not in ended]


STORES = {"database": f"{__name__}.DatabaseStore", "cache": f"{__name__}.CacheStore"}


@settings.cached
def store() -> SessionStore:
    """The store that `SESSION.STORE` names; if it is not set, that of `OAUTH.SESSION_STORAGE`."""
    of_oauth = settings.find("OAUTH", "session_storage", "") if conf.store == "database" else ""
    return cast(SessionStore, settings.pluggable(of_oauth or conf.store, STORES)())


@contextmanager
def unavailable_on_error() -> Iterator[None]:
    """Within this context, any error of the store becomes `ServiceUnavailable`."""
    try:
        yield
    except Fault:
        raise
    except Exception as error:
        logger.error("The session store %r failed: %r", conf.store, error)
        raise errors.ServiceUnavailable from error
