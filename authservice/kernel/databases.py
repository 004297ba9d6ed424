"""The database that users and all their rows are written to, and what its errors mean: whether it
refuses a row, or is unavailable or read-only for the moment.

A request that fails because of an outage is 503, so that clients repeat it. During an outage every
request fails for the same reason: one line a second in the log, with their number, says as much as
a traceback of each.

Transactions: two decorators say whether a function must be called inside or outside of one, and
functions repeat a transaction if the database has aborted it: to resolve a deadlock, or
because a prepared statement was lost.

Tests enforce the decorators:

    @databases.inside_transaction
    def evict(...): ...  # reads and writes that must commit or roll back together

    @databases.outside_transactions
    def check_password(...): ...  # counts an attempt that a refusal must not roll back

Without the variable `AUTHSERVICE_CHECK_TRANSACTIONS` in the environment the decorators return the
function itself, so that requests do not pay for the check. The tests of the service set it.

Our own statements take locks in one fixed order and cannot deadlock with each other. Deadlocks are
still possible with a database that locks gaps between keys to enforce uniqueness, and with
transactions of the host project. The manuals of MariaDB (InnoDB Lock Modes) and PostgreSQL (section
13.3.4) both require applications to retry.

Unless its transactions are IMMEDIATE, SQLite refuses a write at once if the transaction has read
something and another transaction is writing: they would wait for each other, which is a deadlock.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from random import SystemRandom
from threading import Lock
from typing import Any, ParamSpec, TypeVar

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
    transaction,
)
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet
from django.db.transaction import TransactionManagementError

from authservice.kernel import clock
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


P = ParamSpec("P")
R = TypeVar("R")
Outcome = TypeVar("Outcome")
Item = TypeVar("Item")

CHECK_VARIABLE = "AUTHSERVICE_CHECK_TRANSACTIONS"
# Forty concurrent requests that claim one new key deadlock in pairs on MariaDB: with four attempts
# some of them failed, with eight none did. The pauses add up to 1.3 seconds on average.
_ATTEMPTS = 8
# SQLSTATEs of PostgreSQL: deadlock detected, and serialization failure under REPEATABLE READ or
# SERIALIZABLE.
_SQLSTATES = {"40P01", "40001"}
_DEADLOCK_PAUSE = 0.02  # seconds; doubled for each further attempt
_RANDOM = SystemRandom()
_ER_LOCK_DEADLOCK = 1213  # of MariaDB and MySQL
# An SQLite database that was locked for this long is not a deadlock; seconds.
_LOCKED = 5


class WrongTransaction(RuntimeError):
    """A function was called inside a transaction but must run outside, or the reverse."""


def inside_transaction(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: the function must be called in a transaction of the database of users."""
    return _checked_place(function, must_be_open=True)


def outside_transactions(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: the function must not be called in a transaction of the database of users, which
    a refusal would roll back."""
    return _checked_place(function, must_be_open=False)


def is_transaction_open(connection: BaseDatabaseWrapper) -> bool:
    """Whether a transaction is open, other than those that Django's own test cases wrap around each
    test and mark."""
    blocks: list[Any] = connection.atomic_blocks
    return any(not getattr(block, "_from_testcase", False) for block in blocks)


def _checked_place(function: Callable[P, R], *, must_be_open: bool) -> Callable[P, R]:
    if not os.environ.get(CHECK_VARIABLE):
        return function

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if is_transaction_open(connections[primary()]) is not must_be_open:
            where = "in a transaction" if must_be_open else "outside of transactions"
            raise WrongTransaction(f"{function.__qualname__} must be called {where}.")
        return function(*args, **kwargs)

    return call


def retry_on_deadlock(action: Callable[[], Outcome]) -> Outcome:
    """Return the result of `action`; run it again after a deadlock, at most seven times.

    `action` must be safe to repeat: changes that it committed before the deadlock are kept. Inside
    a transaction of the caller there is no retry, because the deadlock has aborted that transaction
    too: the error is raised, so that the caller can repeat all of it.
    """
    began = time.monotonic()
    for number in range(_ATTEMPTS - 1):
        try:
            return action()
        except (OperationalError, TransactionManagementError) as error:
            open_connections = connections.all(initialized_only=True)
            in_transaction = any(connection.in_atomic_block for connection in open_connections)
            if in_transaction or not _is_deadlock(error, time.monotonic() - began):
                raise
            logger.warning("Retrying a transaction that was aborted by a deadlock: %s", error)
            # A random pause, so that the same transactions do not deadlock again.
            time.sleep(_RANDOM.uniform(0, _DEADLOCK_PAUSE * 2**number))
    return action()


def write_or_split(
    write: Callable[[Sequence[Item]], Outcome],
    rows: Sequence[Item],
    refused: Callable[[Item], Outcome],
) -> list[Outcome]:
    """The results of `write(rows)`, a transaction that is retried after a deadlock. If the database
    refuses one of the rows, each row is written alone; the result is `refused(row)` for a row that
    the database refuses alone too."""
    try:
        return [retry_on_deadlock(lambda: write(rows))]
    except DatabaseError as error:
        if not is_refusal(error):
            raise
        if len(rows) == 1:
            # The text of the error may have the values of the row.
            logger.warning("The database refuses a row: %s", type(error.__cause__).__name__)
            return [refused(rows[0])]
    return [outcome for row in rows for outcome in write_or_split(write, [row], refused)]


def after_commit(action: Callable[[], object]) -> None:
    """Call `action` after the commit of the current transaction, or now if there is none.

    A deadlock is retried. Any other exception is logged by Django with the name of `action`, and
    prevents no other callback of the commit.
    """

    @clock.once
    @wraps(action)
    def run() -> None:
        retry_on_deadlock(action)

    transaction.on_commit(run, using=primary(), robust=True)


def _is_deadlock(error: DatabaseError, seconds: float) -> bool:
    if isinstance(error, PreparedStatementLost):
        return True
    cause = error.__cause__
    if isinstance(error, TransactionManagementError):
        # A row was refused, and then the rollback to the savepoint failed, because another node of
        # Galera had aborted the transaction. Django raises this error only at the next statement.
        # On other databases the cause is code that continues after a refused row: an error to
        # report.
        galera = connections[primary()].vendor == "mysql"
        return galera and isinstance(cause, IntegrityError)
    if isinstance(cause, sqlite3.Error):
        return cause.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY and seconds < _LOCKED
    sqlstate = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
    return sqlstate in _SQLSTATES or error.args[:1] == (_ER_LOCK_DEADLOCK,)


_MOVED_AT_ONCE = 1000


def move_rows(rows: QuerySet[Any], model: Any, columns: Callable[[Any], Mapping[str, Any]]) -> None:
    """Store each of the rows as a row of `model` with these columns and the same primary key, and
    delete it. Rows that another process stores meanwhile are moved too."""
    while batch := list(rows.order_by("pk")[:_MOVED_AT_ONCE]):
        moved = [model(pk=row.pk, **columns(row)) for row in batch]
        model._base_manager.using(rows.db).bulk_create(moved)
        rows.filter(pk__in=[row.pk for row in batch]).delete()
