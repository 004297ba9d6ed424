"""Session stores: a second source, besides the database, that can end sessions.

The rows are core's and always in the database, and every request reads them, regardless of the
store. So a store can only refuse a session. Entries that it loses, misses or receives late never
make an ended session valid again. The store `cache` keeps the ids of ended sessions in a cache of
Django.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from django.conf import settings as django_settings
from django.core.cache import caches
from django.core.cache.backends.redis import RedisCache

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import errors, settings
from authservice.kernel.errors import Fault
from authservice.kernel.interfaces import LiveSession, SessionStore
from authservice.kernel.sections import root
from authservice.session.conf import conf

if TYPE_CHECKING:
    from redis import Redis

logger = logging.getLogger("authservice.session")

# Entries are kept longer than an access token is valid, since clocks of machines differ.
_CACHED_LONGER = timedelta(minutes=5)
# Options of Django's cache that redis-py does not know or expects in another form.
_OPTIONS_OF_DJANGO = ("serializer", "pool_class", "parser_class")


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
        # Not evaluated, so that a page reads only its own rows.
        return cast(Sequence[Session], rows)


class CacheStore(DatabaseStore):
    """Writes each ended session to a Django cache, for as long as its access tokens could be valid.

    The cache lists only ended sessions, so no entry has to be removed and no stale entry can
    contradict the database. Other services that share the cache, such as one that verifies only
    signatures, can find ended sessions there.
    """

    def begin(self, session: LiveSession) -> None:
        # This raises an error if the cache is unavailable: no session begins that could not be
        # revoked in the cache.
        self.alive(session)

    def alive(self, session: LiveSession) -> bool:
        return not is_revoked(conf.cache, session.id)

    def end(self, ids: Sequence[UUID]) -> None:
        mark_revoked(conf.cache, ids, root.access_token_ttl + _CACHED_LONGER)

    def live_for(self, person: Person) -> list[Session]:
        active = list(super().live_for(person))
        ended = revoked(conf.cache, [session.pk for session in active])
        return [session for session in active if session.pk not in ended]


STORES = {"database": f"{__name__}.DatabaseStore", "cache": f"{__name__}.CacheStore"}


@settings.cached
def store() -> SessionStore:
    """The store that `SESSION.STORE` names; if it is not set, that of `OAUTH.SESSION_STORAGE`."""
    oauth_store = settings.find("OAUTH", "session_storage", "") if conf.store == "database" else ""
    return cast(SessionStore, settings.pluggable(oauth_store or conf.store, STORES)())


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


def is_revoked(alias: str, session_id: UUID) -> bool:
    """Whether the cache lists the session as ended. Raises the cache's own error if the cache is
    unavailable."""
    django_cache, key = caches[alias], key_of(session_id)
    # Subclasses may choose a server by the key, so they are queried through Django's API.
    if type(django_cache) is not RedisCache:
        return django_cache.get(key) is not None
    return bool(_client(alias).exists(django_cache.make_key(key)))


def revoked(alias: str, session_ids: Iterable[UUID]) -> set[UUID]:
    """Those of `session_ids` that the cache lists as ended."""
    keys = {key_of(session_id): session_id for session_id in session_ids}
    return {keys[key] for key in caches[alias].get_many(list(keys))}


def mark_revoked(alias: str, session_ids: Sequence[UUID], ttl: timedelta) -> None:
    """Store for `ttl` that the sessions have ended. Raises `ConnectionError` if the cache stored
    only some of them, or the cache's own error."""
    entries = {key_of(session_id): 1 for session_id in session_ids}
    failed = caches[alias].set_many(entries, timeout=int(ttl.total_seconds()))
    if failed:
        raise ConnectionError(f"The cache did not store {len(failed)} ended sessions.")


def key_of(session_id: UUID) -> str:
    return f"authservice:session:ended:{session_id}"


@cache
def _client(alias: str) -> Redis:
    """A client for the server of a Redis cache, with its options, for all threads of the process.

    `cache.get` creates a client for each query and a pool for each thread: `is_revoked` takes
    80 us with this client and 180 us without it. redis-py handles forks and closed connections.
    """
    from redis import Redis

    alias_settings: dict[str, Any] = django_settings.CACHES[alias]
    location, options = alias_settings["LOCATION"], alias_settings.get("OPTIONS", {})
    servers = re.split("[;,]", location) if isinstance(location, str) else location
    redis_options = {
        name: value for name, value in options.items() if name not in _OPTIONS_OF_DJANGO
    }
    # The first server is the primary: a replica receives the end of a session with a delay.
    return Redis.from_url(servers[0], **redis_options)


@settings.on_host_change
def _forget() -> None:
    _client.cache_clear()
