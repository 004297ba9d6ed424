"""Retry a transaction that the database aborted to resolve a deadlock, or because a prepared
statement was lost.

Our own statements take locks in one fixed order and cannot deadlock with each other. Deadlocks are
still possible with a database that locks gaps between keys to enforce uniqueness, and with
transactions of the host project. The manuals of MariaDB (InnoDB Lock Modes) and PostgreSQL (section
13.3.4) both require applications to retry.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import wraps
from random import SystemRandom
from typing import TypeVar

from django.db import DatabaseError, IntegrityError, OperationalError, connections, transaction
from django.db.transaction import TransactionManagementError

from authservice.kernel import clock, databases
from authservice.kernel.prepared import PreparedStatementLost

logger = logging.getLogger("authservice.request")

# Forty concurrent requests that claim one new key deadlock in pairs on MariaDB: with four attempts
# some of them failed, with eight none did. The pauses add up to 1.3 seconds on average.
_ATTEMPTS = 8
# SQLSTATEs of PostgreSQL: deadlock detected, and serialization failure under REPEATABLE READ or
# SERIALIZABLE.
_SQLSTATES = {"40P01", "40001"}
_PAUSE = 0.02  # seconds; doubled for each further attempt
_RANDOM = SystemRandom()
_ER_LOCK_DEADLOCK = 1213  # of MariaDB and MySQL

Outcome = TypeVar("Outcome")
Row = TypeVar("Row")


def retry_on_deadlock(action: Callable[[], Outcome]) -> Outcome:
    """Return the result of `action`; run it again after a deadlock, at most seven times.

    `action` must be safe to repeat: changes that it committed before the deadlock are kept. Inside
    a transaction of the caller there is no retry, because the deadlock has aborted that transaction
    too: the error is raised, so that the caller can repeat all of it.
    """
    for number in range(_ATTEMPTS - 1):
        try:
            return action()
        except (OperationalError, TransactionManagementError) as error:
            if not _is_deadlock(error) or _in_a_transaction():
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
    refuses one of the rows, each is written alone; `refused(row)` is the result of those that the
    database refuses then too."""
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


def _is_deadlock(error: DatabaseError) -> bool:
    if isinstance(error, PreparedStatementLost):
        return True
    cause = error.__cause__
    if isinstance(error, TransactionManagementError):
        # A row was refused, and the rollback to the savepoint before it failed: another node of
        # Galera had aborted the transaction. Django reports it at the next statement only. On other
        # databases the cause is code that continues after a refused row: an error to report.
        galera = connections[databases.primary()].vendor == "mysql"
        return galera and isinstance(cause, IntegrityError)
    sqlstate = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
    return sqlstate in _SQLSTATES or error.args[:1] == (_ER_LOCK_DEADLOCK,)


def _in_a_transaction() -> bool:
    return any(connection.in_atomic_block for connection in connections.all(initialized_only=True))
