"""Deadlocks: a transaction that the database ended for another's sake, and that asks for once more.

Locks taken in one order keep our own statements from waiting for each other, but not a database
that locks gaps between keys to keep them unique, nor a host's own transactions. MariaDB's manual
(InnoDB Lock Modes) and PostgreSQL's (section 13.3.4) both tell applications to try again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from random import SystemRandom
from typing import TypeVar

from django.db import OperationalError, connections

logger = logging.getLogger("authservice.request")

_TRIES = 4
# SQLSTATE of deadlocks and, under REPEATABLE READ and above, of lost races on PostgreSQL.
_SQLSTATES = {"40P01", "40001"}
_PAUSE = 0.02  # seconds; doubled for each further try
_RANDOM = SystemRandom()
_ER_LOCK_DEADLOCK = 1213  # of MariaDB and MySQL

Outcome = TypeVar("Outcome")


def retry_on_deadlock(deed: Callable[[], Outcome]) -> Outcome:
    """What `deed` returns, done anew where a deadlock undid it; three times at most.

    `deed` must bear that what it committed before the deadlock stays. Inside a transaction of the
    caller nothing is tried again: that one is lost as well, and the caller has to know.
    """
    for number in range(_TRIES - 1):
        try:
            return deed()
        except OperationalError as wrong:
            if not _is_deadlock(wrong) or _in_a_transaction():
                raise
            logger.warning("A deadlock ended a transaction, which is tried again: %s", wrong)
            # Apart from the others, who would otherwise meet again in the same order.
            time.sleep(_RANDOM.uniform(0, _PAUSE * 2**number))
    return deed()


def _is_deadlock(wrong: OperationalError) -> bool:
    said = wrong.__cause__
    sqlstate = getattr(said, "sqlstate", None) or getattr(said, "pgcode", None)
    return sqlstate in _SQLSTATES or wrong.args[:1] == (_ER_LOCK_DEADLOCK,)


def _in_a_transaction() -> bool:
    return any(connection.in_atomic_block for connection in connections.all(initialized_only=True))
