"""Clearing away rows that nothing asks for any more.

A table is walked once, in the order of its primary key. Each batch is read without a lock, and then
only the rows that still may go are locked and deleted, by primary key and in a transaction of
their own. So nobody who signs in or refreshes waits, and sweeps that run at once share the work.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from django.db import connections, transaction
from django.db.models import ProtectedError, Q, QuerySet, RestrictedError
from django.utils import timezone

from authservice.core.credentials import attempt_counter
from authservice.core.models import AttemptCounter, OneTimeToken, Session
from authservice.kernel import databases
from authservice.kernel.modules import plugs

logger = logging.getLogger("authservice.cleanup")

# For as long a link says that it has expired or was used; afterwards it is merely unknown.
_TICKETS_KEPT = timedelta(days=1)
_OVERDUE = timedelta(hours=48)
_HOUR, _DAY = 3600.0, 86400.0  # seconds
_next_look = monotonic() + _HOUR


@dataclass(frozen=True)
class ExpiredRows:
    """Rows of one table that may go."""

    name: str
    rows: QuerySet[Any]


def expired_rows(*, sign_ins_kept: timedelta) -> list[ExpiredRows]:
    """What may go now; a sign-in is kept for so long after it ended or expired."""
    now, using = timezone.now(), databases.primary()
    return [
        # First, since a module may tell what is rubbish by a ticket.
        *(ExpiredRows(*waste) for filler in plugs("expired_rows") for waste in filler().items()),
        ExpiredRows(
            "tickets", OneTimeToken.objects.using(using).filter(_stale(now - _TICKETS_KEPT))
        ),
        ExpiredRows("sign-ins", Session.objects.using(using).filter(_over(now - sign_ins_kept))),
        ExpiredRows("counters", AttemptCounter.objects.using(using).filter(_forgiven(now))),
    ]


def overdue() -> bool:
    """Whether rows exist that a cleanup within the last 48 hours would have deleted."""
    by = timezone.now() - _TICKETS_KEPT - _OVERDUE
    return OneTimeToken.objects.using(databases.primary()).filter(expires_at__lte=by).exists()


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


def delete_expired(waste: ExpiredRows, *, batch_size: int) -> int:
    """Delete the rows; how many."""
    return sum(delete(waste.rows, pks) for pks in batches(waste.rows, batch_size))


def _stale(by: datetime) -> Q:
    return Q(expires_at__lte=by) | Q(spent_at__lte=by)


def _over(by: datetime) -> Q:
    return Q(ended_at__lte=by) | Q(idle_expires_at__lte=by) | Q(expires_at__lte=by)


def _forgiven(now: datetime) -> Q:
    # No earlier: the strikes of a window that ended still lengthen the wait of the next one.
    return Q(ends_at__lte=now - attempt_counter.FORGIVEN_AFTER)


def batches(rows: QuerySet[Any], size: int) -> Iterator[list[Any]]:
    """Primary keys of the rows, in their order, so many at a time."""
    pks, last = rows.order_by("pk").values_list("pk", flat=True), None
    while batch := list((pks if last is None else pks.filter(pk__gt=last))[:size]):
        yield batch
        last = batch[-1]


def delete(rows: QuerySet[Any], pks: list[Any]) -> int:
    """Delete those of the rows that still may go and that nobody else holds."""
    found, connection = rows.filter(pk__in=pks), connections[rows.db]
    alone = not rows.model._meta.related_objects
    with transaction.atomic(using=rows.db):
        if connection.features.has_select_for_update_skip_locked:
            free = list(found.select_for_update(skip_locked=True).values_list("pk", flat=True))
            if alone and connection.vendor == "mysql":
                return _delete_by_key(rows.model, free, connection)
            found = rows.model._base_manager.using(rows.db).filter(pk__in=free)
        return int(found.delete()[0]) if alone else _delete_with_all(found)


def _delete_with_all(rows: QuerySet[Any]) -> int:
    """Delete the rows with all that hangs on them; how many of themselves.

    What a table of the host's protects stays, and keeps no other.
    """
    try:
        with transaction.atomic(using=rows.db):
            return rows.delete()[1].get(rows.model._meta.label, 0)
    except (ProtectedError, RestrictedError):
        pks = list(rows.values_list("pk", flat=True))
    if len(pks) == 1:
        return 0
    return sum(_delete_with_all(rows.filter(pk=pk)) for pk in pks)


def _delete_by_key(model: Any, pks: list[Any], connection: Any) -> int:
    """One by one, since MySQL and MariaDB rather read a small table in whole than look up many
    keys, and then wait for every row in use."""
    key, quote = model._meta.pk, connection.ops.quote_name
    # Names come from our own models, quoted; every value is a parameter.
    sql = f"DELETE FROM {quote(model._meta.db_table)} WHERE {quote(key.column)} = %s"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.executemany(sql, [[key.get_db_prep_value(pk, connection)] for pk in pks])
    return len(pks)
