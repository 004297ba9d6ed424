"""Stores: who keeps watch over sessions beside their rows.

The rows are core's, always in the database, and read for every request, whatever the store. So a
store can only refuse. What it forgets, misses or hears late revives nobody.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from typing import Any, cast
from uuid import UUID

from django.db.models import QuerySet
from django.utils.module_loading import import_string

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import databases, errors, settings
from authservice.kernel.errors import Fault
from authservice.kernel.interfaces import LiveSession, SessionStore
from authservice.kernel.sections import root
from authservice.kernel.sql import Update, param
from authservice.session import revocation_cache
from authservice.session.conf import conf

logger = logging.getLogger("authservice.session")

_CACHED_LONGER = timedelta(minutes=5)  # than a token: clocks of machines differ


def _as_read() -> QuerySet[Session]:
    return Session.objects.filter(
        pk=param("id", Session),
        ended_at=None,
        last_used_at=param("seen", Session, "last_used_at"),
    )


# Of several requests at once that have read the same last use, one writes the next.
_TOUCH = Update(
    _as_read,
    lambda: {
        "last_used_at": param("now", Session, "last_used_at"),
        "idle_expires_at": param("until", Session, "idle_expires_at"),
    },
)


class DatabaseStore:
    """The rows alone: they say all there is to say."""

    def begin(self, session: LiveSession) -> None:
        """The row is about to be written."""

    def alive(self, session: LiveSession) -> bool:
        return True

    def touch(self, session: LiveSession, *, now: datetime, until: datetime) -> None:
        _TOUCH.run(
            databases.primary(), id=session.id, seen=session.last_used_at, now=now, until=until
        )

    def end(self, ids: Sequence[UUID]) -> None:
        """The rows have ended already."""

    def live_for(self, person: Person) -> list[Session]:
        return list(sessions.active_sessions(person).order_by("-created_at", "-pk"))


class CacheStore(DatabaseStore):
    """A Django cache in front, written through: it names each ended session for as long as a token
    of it could be good.

    It says of none that it lives. So there is no entry to take back, and no moment in which one
    from before contradicts the row; and what else has the cache, such as a service that looks at
    signatures alone, learns of an end there.
    """

    def begin(self, session: LiveSession) -> None:
        # No session begins whose end could not be told.
        self.alive(session)

    def alive(self, session: LiveSession) -> bool:
        return not revocation_cache.is_revoked(conf.cache, session.id)

    def end(self, ids: Sequence[UUID]) -> None:
        revocation_cache.mark_revoked(conf.cache, ids, root.access_token_ttl + _CACHED_LONGER)

    def live_for(self, person: Person) -> list[Session]:
        found = super().live_for(person)
        gone = revocation_cache.revoked(conf.cache, [session.pk for session in found])
        return [session for session in found if session.pk not in gone]


_OURS: dict[str, type[Any]] = {"database": DatabaseStore, "cache": CacheStore}


@cache
def store() -> SessionStore:
    """The one that the settings name."""
    made = _OURS.get(conf.store) or import_string(conf.store)
    return cast(SessionStore, made())


@contextmanager
def asked() -> Iterator[None]:
    """Whatever a store fails with is told as `ServiceUnavailable`."""
    try:
        yield
    except Fault:
        raise
    except Exception as away:
        logger.error("The session store %r cannot be asked: %r", conf.store, away)
        raise errors.ServiceUnavailable from away


@settings.on_change
def _forget() -> None:
    store.cache_clear()
