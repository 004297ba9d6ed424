"""Deletes expired rows.

Each table is read once, in the order of its primary key. Each batch is read without a lock. Then
the rows that are still expired are locked and deleted, by primary key and in a transaction of their
own; rows that another transaction has locked are skipped. So logins and refreshes do not wait, and
concurrent cleanups share the work.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Any

from django.db import connections, transaction
from django.db.models import ProtectedError, Q, QuerySet, RestrictedError

from authservice.core.conf import core
from authservice.core.credentials import attempt_counter
from authservice.core.models import (
    AddressReservation,
    AttemptCounter,
    LostMessage,
    OneTimeToken,
    PasswordCheck,
    Session,
    UnseenPassword,
)
from authservice.kernel import clock, databases
from authservice.kernel.modules import plugs

logger = logging.getLogger("authservice.cleanup")

# Keep used and expired one-time tokens this long, so that the API can answer "expired" instead of
# "invalid".
_TOKENS_KEPT = timedelta(days=1)
_OVERDUE = timedelta(hours=48)
_HOUR, _DAY = 3600.0, 86400.0  # seconds
_next_look = monotonic() + _HOUR


@dataclass(frozen=True)
class ExpiredRows:
    """The expired rows of one table; `name` is shown by the command."""

    name: str
    rows: QuerySet[Any]


@clock.once
def expired_rows(*, sessions_kept: timedelta) -> list[ExpiredRows]:
    """The rows to delete now. Sessions are kept for `sessions_kept` after they ended or expired."""
    now, using = clock.now(), databases.primary()
    tokens_until, sessions_until = now - _TOKENS_KEPT, now - sessions_kept
    token_over = Q(expires_at__lte=tokens_until) | Q(spent_at__lte=tokens_until)
    session_over = (
        Q(ended_at__lte=sessions_until)
        | Q(idle_expires_at__lte=sessions_until)
        | Q(expires_at__lte=sessions_until)
    )
    # A counter is kept for a while after its window: the strikes still lengthen the next wait. A
    # day of attempts that ends in more than two days began while the clock of a machine was ahead,
    # and would lock its user out until then.
    counter_over = Q(ends_at__lte=now - attempt_counter.FORGIVEN_AFTER) | Q(
        day_ends_at__gt=now + 2 * attempt_counter.DAY
    )
    return [
        # Modules come first, since a module may find its expired rows by their one-time tokens.
        *(ExpiredRows(*rows) for filler in plugs("expired_rows") for rows in filler().items()),
        ExpiredRows("one-time tokens", OneTimeToken.objects.filter(token_over)),
        ExpiredRows("reserved addresses", AddressReservation.objects.filter(expires_at__lte=now)),
        ExpiredRows("password checks", PasswordCheck.objects.filter(expires_at__lte=now)),
        ExpiredRows("unseen passwords", UnseenPassword.objects.filter(expires_at__lte=now)),
        ExpiredRows("sessions", Session.objects.filter(session_over)),
        ExpiredRows("attempt counters", AttemptCounter.objects.using(using).filter(counter_over)),
        ExpiredRows(
            "lost messages",
            LostMessage.objects.filter(lost_at__lte=now - core.lost_messages_kept),
        ),
    ]


def overdue() -> bool:
    """Whether rows exist that a cleanup within the last 48 hours would have deleted."""
    deadline = clock.now() - _TOKENS_KEPT - _OVERDUE
    return OneTimeToken.objects.filter(expires_at__lte=deadline).exists()


def warn_if_overdue() -> None:
    """Log an overdue cleanup at most once a day in each process; called by the worker that sends
    messages.

    Not within the first hour of a process, so that commands and short-lived workers run no query.
    """
    global _next_look
    if monotonic() < _next_look:
        return
    _next_look = monotonic() + _DAY
    if overdue():
        logger.warning(
            "Expired rows have not been deleted for 48 hours: run `manage.py authservice_cleanup`"
            " once a day. Until then the tables grow."
        )


def delete_expired(
    expired: ExpiredRows, *, batch_size: int, progress: Callable[[int], None] = lambda done: None
) -> int:
    """Delete the rows in batches; returns how many. `progress` gets the number of rows read."""
    deleted = done = 0
    for pks in batches(expired.rows, batch_size):
        deleted += delete(expired.rows, pks)
        progress(done := done + len(pks))
    return deleted


def batches(rows: QuerySet[Any], size: int) -> Iterator[list[Any]]:
    """Primary keys of the rows, in ascending order, in lists of `size`."""
    pks = rows.order_by("pk").values_list("pk", flat=True)
    last = None
    while batch := list((pks if last is None else pks.filter(pk__gt=last))[:size]):
        yield batch
        last = batch[-1]


def delete(rows: QuerySet[Any], pks: list[Any]) -> int:
    """Delete those of the rows that still match and that no other transaction has locked; returns
    how many."""
    return databases.retry_on_deadlock(lambda: _delete(rows, pks))


def _delete(rows: QuerySet[Any], pks: list[Any]) -> int:
    expired, connection = rows.filter(pk__in=pks), connections[rows.db]
    # If no other table references the rows, there is nothing to cascade to.
    unreferenced = not rows.model._meta.related_objects
    with transaction.atomic(using=rows.db):
        if connection.features.has_select_for_update_skip_locked:
            unlocked = list(
                expired.select_for_update(skip_locked=True).values_list("pk", flat=True)
            )
            if unreferenced and connection.vendor == "mysql":
                return _delete_by_key(rows.model, unlocked, connection)
            # By primary key alone: these rows are locked now, so they stay expired.
            expired = rows.model._base_manager.using(rows.db).filter(pk__in=unlocked)
        return int(expired.delete()[0]) if unreferenced else _delete_cascading(expired)


def _delete_cascading(rows: QuerySet[Any]) -> int:
    """Delete the rows and those that reference them; returns how many of the rows themselves.

    A row that a table of the host project protects (`PROTECT`, `RESTRICT`) stays; the others are
    deleted.
    """
    try:
        with transaction.atomic(using=rows.db):
            return rows.delete()[1].get(rows.model._meta.label, 0)
    except (ProtectedError, RestrictedError):
        pks = list(rows.values_list("pk", flat=True))
    if len(pks) == 1:
        return 0
    return sum(_delete_cascading(rows.filter(pk=pk)) for pk in pks)


def _delete_by_key(model: Any, pks: list[Any], connection: Any) -> int:
    """Delete one row per statement. For `pk IN (…)`, MySQL and MariaDB may scan a small table
    instead of looking up the keys, and then wait for every locked row."""
    key, quote = model._meta.pk, connection.ops.quote_name
    # Names come from our own models, quoted; every value is a parameter.
    sql = f"DELETE FROM {quote(model._meta.db_table)} WHERE {quote(key.column)} = %s"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.executemany(sql, [[key.get_db_prep_value(pk, connection)] for pk in pks])
    return len(pks)
