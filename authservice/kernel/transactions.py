"""Two decorators, which say whether a function must be called inside or outside of a transaction,
and functions that repeat a transaction if the database has aborted it: to resolve a deadlock, or
because a prepared statement was lost.

Tests enforce the decorators:

    @transactions.inside
    def evict(...): ...  # reads and writes that must commit or roll back together

    @transactions.outside
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
from collections.abc import Callable, Sequence
from functools import wraps
from random import SystemRandom
from typing import Any, ParamSpec, TypeVar

from django.db import DatabaseError, IntegrityError, OperationalError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.transaction import TransactionManagementError

from authservice.kernel import clock, databases
from authservice.kernel.sql import PreparedStatementLost

logger = logging.getLogger("authservice.request")

P = ParamSpec("P")
R = TypeVar("R")
Outcome = TypeVar("Outcome")
Row = TypeVar("Row")

VARIABLE = "AUTHSERVICE_CHECK_TRANSACTIONS"
# Forty concurrent requests that claim one new key deadlock in pairs on MariaDB: with four attempts
# some of them failed, with eight none did. The pauses add up to 1.3 seconds on average.
_ATTEMPTS = 8
# SQLSTATEs of PostgreSQL: deadlock detected, and serialization failure under REPEATABLE READ or
# SERIALIZABLE.
_SQLSTATES = {"40P01", "40001"}
_PAUSE = 0.02  # seconds; doubled for each further attempt
_RANDOM = SystemRandom()
_ER_LOCK_DEADLOCK = 1213  # of MariaDB and MySQL
# An SQLite database that was locked for this long is not a deadlock; seconds.
_LOCKED = 5


class WrongTransaction(RuntimeError):
    """A function was called inside a transaction but must run outside, or the reverse."""


def inside(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: the function must be called in a transaction of the database of users."""
    return _checked(function, must_be_open=True)


def outside(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: the function must not be called in a transaction of the database of users, which
    a refusal would roll back."""
    return _checked(function, must_be_open=False)


def is_open(connection: BaseDatabaseWrapper) -> bool:
    """Whether a transaction is open, other than those that Django's own test cases wrap around each
    test and mark."""
    blocks: list[Any] = connection.atomic_blocks
    return any(not getattr(block, "_from_testcase", False) for block in blocks)


def _checked(function: Callable[P, R], *, must_be_open: bool) -> Callable[P, R]:
    if not os.environ.get(VARIABLE):
        return function

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if is_open(connections[databases.primary()]) is not must_be_open:
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
            time.sleep(_RANDOM.uniform(0, _PAUSE * 2**number))
    return action()


def write_or_split(
    write: Callable[[Sequence[Row]], Outcome],
    rows: Sequence[Row],
    refused: Callable[[Row], Outcome],
) -> list[Outcome]:
    """The results of `write(rows)`, a transaction that is retried after a deadlock. If the database
    refuses one of the rows, each row is written alone; the result is `refused(row)` for a row that
    the database refuses alone too."""
    try:
        return [retry_on_deadlock(lambda: write(rows))]
    except DatabaseError as error:
        if not databases.is_refusal(error):
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

    transaction.on_commit(run, using=databases.primary(), robust=True)


def _is_deadlock(error: DatabaseError, seconds: float) -> bool:
    if isinstance(error, PreparedStatementLost):
        return True
    cause = error.__cause__
    if isinstance(error, TransactionManagementError):
        # A row was refused, and then the rollback to the savepoint failed, because another node of
        # Galera had aborted the transaction. Django raises this error only at the next statement.
        # On other databases the cause is code that continues after a refused row: an error to
        # report.
        galera = connections[databases.primary()].vendor == "mysql"
        return galera and isinstance(cause, IntegrityError)
    if isinstance(cause, sqlite3.Error):
        return cause.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY and seconds < _LOCKED
    sqlstate = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
    return sqlstate in _SQLSTATES or error.args[:1] == (_ER_LOCK_DEADLOCK,)
