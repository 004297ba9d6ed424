"""The ids of ended sessions, in a Django cache."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.redis import RedisCache

# Idle connections to Redis, with the id of the process that opened them: two processes that shared
# a connection would read each other's replies. A query through Django's cache creates a client and
# takes a connection from a pool, which together takes several times as long as the query itself.
_idle: WeakKeyDictionary[BaseCache, tuple[int, list[Any]]] = WeakKeyDictionary()


def is_revoked(alias: str, session_id: UUID) -> bool:
    """Whether the cache contains the session. Raises the cache's own error if it is unavailable."""
    cache, key = caches[alias], key_of(session_id)
    # Subclasses may choose a server by the key, so they are queried through Django's API.
    if type(cache) is not RedisCache:
        return cache.get(key) is not None
    return _exists(cache, cache.make_key(key))


def revoked(alias: str, session_ids: Iterable[UUID]) -> set[UUID]:
    """Those of `session_ids` that the cache contains."""
    keys = {key_of(session_id): session_id for session_id in session_ids}
    return {keys[key] for key in caches[alias].get_many(list(keys))}


def mark_revoked(alias: str, session_ids: Sequence[UUID], ttl: timedelta) -> None:
    """Store the sessions for `ttl`. Raises `ConnectionError` if the cache stored only some of them,
    or the cache's own error."""
    entries = {key_of(session_id): 1 for session_id in session_ids}
    failed = caches[alias].set_many(entries, timeout=int(ttl.total_seconds()))
    if failed:
        raise ConnectionError(f"The cache did not store {len(failed)} ended sessions.")


def key_of(session_id: UUID) -> str:
    return f"authservice:session:ended:{session_id}"


def _exists(cache: RedisCache, key: str) -> bool:
    idle = _idle_of(cache)
    try:
        connection = idle.pop()
        exists = _query(connection, key)
    except Exception:
        # No connection is idle, or the server has closed it. A connection that failed is not
        # reused: the next query would read the late reply of this one.
        connection = _open(cache)
        exists = _query(connection, key)
    idle.append(connection)
    return exists


def _query(connection: Any, key: str) -> bool:
    connection.send_command("EXISTS", key)
    return bool(connection.read_response())


def _open(cache: RedisCache) -> Any:
    # The primary, since a replica receives the end of a session with a delay.
    pool = cache._cache.get_client(write=True).connection_pool
    return pool.connection_class(**pool.connection_kwargs)


def _idle_of(cache: RedisCache) -> list[Any]:
    process, idle = _idle.get(cache, (0, []))
    if process != os.getpid():
        idle = []
        _idle[cache] = os.getpid(), idle
    return idle
