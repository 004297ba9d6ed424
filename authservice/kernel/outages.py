"""Recognise a database that is temporarily unavailable or read-only, and limit the log lines.

A request that fails for such a reason is 503, so that clients repeat it. During an outage every
request fails for the same reason: one line a second with their number says as much as a traceback
of each.
"""

from __future__ import annotations

import logging
import time
from threading import Lock

from django.db import DatabaseError, InterfaceError, OperationalError, connections

from authservice.kernel.prepared import PreparedStatementLost

logger = logging.getLogger("authservice.request")

# SQLSTATEs of PostgreSQL by class: connection exception, transaction rollback (a deadlock, after
# all retries), insufficient resources (disk full, too many connections), operator intervention
# (shutdown, statement_timeout). Then: lock_timeout, and a server that is read-only, such as a
# replica that is not promoted yet.
_CLASSES = ("08", "40", "53", "57")
_STATES = ("55P03", "25006")
# Error codes of MariaDB and MySQL: disk full, too many connections, a node of Galera outside of its
# cluster, table full, lock wait timeout, deadlock, read-only, statement interrupted by a limit of
# time. Then those of the client library: the server cannot be reached, or the connection was lost.
_CODES = (1021, 1040, 1047, 1114, 1205, 1213, 1290, 1836, 1969, 2002, 2003, 2006, 2013, 2055)
_BUSY = ("SQLITE_BUSY", "SQLITE_FULL", "SQLITE_READONLY")
_PAUSE = 1  # second


def is_outage(error: BaseException) -> bool:
    """Whether the same request may succeed later, as opposed to a statement that is refused."""
    if isinstance(error, PreparedStatementLost):
        return True
    if not isinstance(error, DatabaseError | InterfaceError):
        return False
    return is_temporary(error) or (
        isinstance(error, OperationalError | InterfaceError) and _is_unreachable()
    )


def is_temporary(error: DatabaseError | InterfaceError) -> bool:
    """Whether the error itself says so. The state of the connections is not asked."""
    cause = error.__cause__
    state = getattr(cause, "sqlstate", getattr(cause, "pgcode", ""))
    if state is None:
        # Every error of the server has one. The driver itself reports a connection that cannot be
        # opened or was lost. The connection does not show it: Django has opened another one at the
        # end of the transaction.
        return isinstance(error, OperationalError)
    if state.startswith(_CLASSES) or state in _STATES:
        return True
    if getattr(cause, "sqlite_errorname", "") in _BUSY:
        return True
    return bool(error.args) and error.args[0] in _CODES


def _is_unreachable() -> bool:
    # A connection inside a transaction has reached its database. It is not tested, because after an
    # error the database refuses every statement until the rollback.
    opened = connections.all(initialized_only=True)
    tested = [connection for connection in opened if not connection.in_atomic_block]
    return any(found.connection is None or not found.is_usable() for found in tested)


class _Log:
    """At most one line a second, with the number of requests that failed since the last one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._last = float("-inf")
        self._failed = 0

    def add(self, error: BaseException) -> bool:
        """Count a failed request, and log it if a second has passed; whether it was logged."""
        with self._lock:
            self._failed += 1
            now = time.monotonic()
            if now - self._last < _PAUSE:
                return False
            self._last, failed, self._failed = now, self._failed, 0
        logger.error("The database is not available. Failed requests: %d. %s", failed, error)
        return True


log = _Log()
