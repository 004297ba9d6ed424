"""The database that users and all their rows are written to, and what its errors mean: whether it
refuses a row, or is unavailable or read-only for the moment.

A request that fails because of an outage is 503, so that clients repeat it. During an outage every
request fails for the same reason: one line a second in the log, with their number, says as much as
a traceback of each.
"""

from __future__ import annotations

import logging
import time
from threading import Lock
from typing import Any, TypeVar

from django.contrib.auth import get_user_model
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    OperationalError,
    connections,
    models,
    router,
)
from django.db.backends.base.base import BaseDatabaseWrapper

from authservice.kernel.sql import PreparedStatementLost

logger = logging.getLogger("authservice.request")
Row = TypeVar("Row", bound=models.Model)


def primary() -> str:
    """The alias of the database that users are written to.

    Reads use it too: a replica lags behind, so a revoked session would still be valid there.
    """
    # Most projects have no router. Asking Django takes ten calls, several times in each request.
    return router.db_for_write(get_user_model()) if router.routers else DEFAULT_DB_ALIAS


def written(model: type[models.Model]) -> str:
    """The alias of the database that the rows of another package's model are written to."""
    return router.db_for_write(model)


class PrimaryManager(models.Manager[Row]):
    """Reads and writes in the database of `primary()`, unless a statement names another one.

    Without it, Django would ask the routers of the host project, and they may send reads to a
    replica.
    """

    def get_queryset(self) -> models.QuerySet[Row]:
        return super().get_queryset().using(self._db or primary())


class OfUserManager(PrimaryManager[Row]):
    """For rows of which each user has at most one: their natural key is that of the user. So a
    fixture with natural keys fits another database, where the users have other primary keys."""

    def get_by_natural_key(self, *key: Any) -> Row:
        users: Any = get_user_model()._default_manager
        return self.get(user=users.db_manager(self._db or primary()).get_by_natural_key(*key))


# How an error shows that a trigger of the project refuses a row. SQLite: an `IntegrityError`.
#
# PostgreSQL: `RAISE` may name any SQLSTATE, and a driver chooses the class of the error by the
# SQLSTATE. The server also names its C function that runs every `RAISE`. Errors of class P0 are
# those of PL/pgSQL; triggers in other languages use P0001.
_RAISE, _PLPGSQL = "exec_stmt_raise", "P0"
# MariaDB and MySQL: `SIGNAL` has the number 1644, unless it sets another one (`MYSQL_ERRNO`). No
# server and no storage engine reports numbers from 20,000 on itself.
_SIGNAL, _NUMBERS_OF_PROJECTS = 1644, 20_000


def is_refusal(error: DatabaseError) -> bool:
    """Whether the table refuses the row: by a constraint, by the type of a column or by a trigger,
    so that the same row would be refused again."""
    return isinstance(error, IntegrityError | DataError) or is_of_trigger(error)


def is_of_trigger(error: DatabaseError) -> bool:
    """Whether a trigger of the project refuses the row; always false on SQLite, where the class of
    the error says so. A trigger that reports a deadlock or another temporary error asks for a retry
    instead."""
    cause = error.__cause__
    sqlstate = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None) or ""
    function = getattr(getattr(cause, "diag", None), "source_function", None)
    number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    by_trigger = (
        function == _RAISE
        or sqlstate.startswith(_PLPGSQL)
        or number == _SIGNAL
        or number >= _NUMBERS_OF_PROJECTS
    )
    return by_trigger and not is_temporary(error)


# MariaDB and MySQL: a value has characters that the character set of the column lacks; it cannot be
# stored (1366), or not be compared with the column (1267; MySQL 8: 3988).
_CHARSET = (1267, 1366, 3988)


def is_of_charset(error: DatabaseError) -> bool:
    """Whether a column cannot hold the characters of a value, such as an emoji in `utf8mb3`."""
    is_mysql = connections[primary()].vendor == "mysql"
    return is_mysql and bool(error.args) and error.args[0] in _CHARSET


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
_PAUSE = 1  # second, at least, between two lines of the log


def is_outage(error: BaseException) -> bool:
    """Whether the same request may succeed later, as opposed to a statement that is refused."""
    if isinstance(error, PreparedStatementLost):
        return True
    if not isinstance(error, DatabaseError | InterfaceError):
        return False
    if is_temporary(error):
        return True
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    # A connection inside a transaction has reached its database. It is not tested, because after an
    # error the database refuses every statement until the rollback.
    opened = connections.all(initialized_only=True)
    idle = [connection for connection in opened if not connection.in_atomic_block]
    return not all(_reaches_database(connection) for connection in idle)


def _reaches_database(connection: BaseDatabaseWrapper) -> bool:
    if connection.connection is not None:
        return connection.is_usable()
    # Either the database was not reached, or Django closed the connection after an earlier request:
    # a project may have a second database, which this request has not used.
    try:
        connection.ensure_connection()
    except Error:
        return False
    connection.close()
    return True


def is_temporary(error: DatabaseError | InterfaceError) -> bool:
    """Whether the error itself says that it is temporary. The connections are not tested."""
    cause = error.__cause__
    state = getattr(cause, "sqlstate", getattr(cause, "pgcode", ""))
    if state is None:
        # Every error of the server has an SQLSTATE. So the driver itself reports the error: a
        # connection cannot be opened or was lost. A test of the connection would not show this:
        # Django has opened another one at the end of the transaction.
        return isinstance(error, OperationalError)
    if state.startswith(_CLASSES) or state in _STATES:
        return True
    if getattr(cause, "sqlite_errorname", "") in _BUSY:
        return True
    return bool(error.args) and error.args[0] in _CODES


class _Log:
    """At most one line a second, with the number of requests that failed since the last one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._last = float("-inf")
        self._failed = 0

    def add(self, error: BaseException) -> bool:
        """Count a failed request, and log the number if a second has passed since the last line.
        Returns whether it was logged."""
        with self._lock:
            self._failed += 1
            now = time.monotonic()
            if now - self._last < _PAUSE:
                return False
            failed = self._failed
            self._last = now
            self._failed = 0
        logger.error("The database is not available. Failed requests: %d. %s", failed, error)
        return True


outages = _Log()
