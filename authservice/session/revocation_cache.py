"""The names of ended sessions, in a Django cache."""

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

# Connections to Redis that wait for the next question, by the process that opened them: two that
# shared one would read each other's answers. A question through Django makes a client and takes a
# connection from a pool, which together is several times the work of the question itself.
_idle: WeakKeyDictionary[BaseCache, tuple[int, list[Any]]] = WeakKeyDictionary()


def is_revoked(alias: str, session_id: UUID) -> bool:
    """Raises what the cache raises when it does not answer."""
    cache, key = caches[alias], key_of(session_id)
    # Heirs may choose a server by the key: they are asked as any other cache is.
    if type(cache) is not RedisCache:
        return cache.get(key) is not None
    return _exists(cache, cache.make_key(key))


def revoked(alias: str, session_ids: Iterable[UUID]) -> set[UUID]:
    """Those of them that the cache names."""
    keys = {key_of(session_id): session_id for session_id in session_ids}
    return {keys[key] for key in caches[alias].get_many(list(keys))}


def mark_revoked(alias: str, session_ids: Sequence[UUID], life: timedelta) -> None:
    """Raises `ConnectionError` where the cache took only some, or what the cache raises."""
    names = {key_of(session_id): 1 for session_id in session_ids}
    failed = caches[alias].set_many(names, timeout=int(life.total_seconds()))
    if failed:
        raise ConnectionError(f"The cache did not take {len(failed)} ended sessions.")


def key_of(session_id: UUID) -> str:
    return f"authservice:session:ended:{session_id}"


def _exists(cache: RedisCache, key: str) -> bool:
    idle = _idle_of(cache)
    try:
        connection = idle.pop()
        answer = _ask(connection, key)
    except Exception:
        # None is idle, or it was closed meanwhile. One that failed does not come back: whoever had
        # it next would read its late answer.
        connection = _open(cache)
        answer = _ask(connection, key)
    idle.append(connection)
    return answer


def _ask(connection: Any, key: str) -> bool:
    connection.send_command("EXISTS", key)
    return bool(connection.read_response())


def _open(cache: RedisCache) -> Any:
    # To the server that is written to: one that copies it may know of an end a moment later.
    pool = cache._cache.get_client(write=True).connection_pool
    return pool.connection_class(**pool.connection_kwargs)


def _idle_of(cache: RedisCache) -> list[Any]:
    process, idle = _idle.get(cache, (0, []))
    if process != os.getpid():
        idle = []
        _idle[cache] = os.getpid(), idle
    return idle
