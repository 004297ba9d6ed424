"""The names of ended sessions, in a Django cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.redis import RedisCache

# Django makes a new client of redis-py for each command, which takes three times as long as the
# command. A client holds no connection, only the pool it takes them from, so one may stay.
_clients: WeakKeyDictionary[BaseCache, Any] = WeakKeyDictionary()


def is_named(alias: str, session_id: UUID) -> bool:
    """Raises what the cache raises when it does not answer."""
    cache, key = caches[alias], key_of(session_id)
    # Heirs may choose a server by the key: they are asked as any other cache is.
    if type(cache) is not RedisCache:
        return cache.get(key) is not None
    return bool(_client(cache).exists(cache.make_key(key)))


def named(alias: str, session_ids: Iterable[UUID]) -> set[UUID]:
    """Those of them that the cache names."""
    keys = {key_of(session_id): session_id for session_id in session_ids}
    return {keys[key] for key in caches[alias].get_many(list(keys))}


def name(alias: str, session_ids: Sequence[UUID], life: timedelta) -> None:
    """Raises `ConnectionError` where the cache took only some, or what the cache raises."""
    names = {key_of(session_id): 1 for session_id in session_ids}
    failed = caches[alias].set_many(names, timeout=int(life.total_seconds()))
    if failed:
        raise ConnectionError(f"The cache did not take {len(failed)} ended sessions.")


def key_of(session_id: UUID) -> str:
    return f"authservice:session:ended:{session_id}"


def _client(cache: RedisCache) -> Any:
    client = _clients.get(cache)
    if client is None:
        # Of the server that is written to: one that copies it may know of an end a moment later.
        client = _clients[cache] = cache._cache.get_client(write=True)
    return client
