"""The retention policy, and the deletion of older entries.

Each batch is a transaction of its own that waits for no row lock and holds its own briefly. The
same transaction writes the number of deleted entries into the entry of the run, so an aborted run
is recorded correctly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from authservice.audit import writer
from authservice.audit.conf import RETENTION, conf
from authservice.audit.models import Entry
from authservice.core import cleanup
from authservice.kernel import clock, databases
from authservice.kernel.actions import SYSTEM
from authservice.kernel.client import Client
from authservice.kernel.events import Event
from authservice.kernel.settings import convert
from authservice.kernel.sql import planned_for_values

BATCH = 1000
CLEANED = "admin.audit.cleaned"
# Older than any entry, and short enough that subtracting it from today stays within `datetime`.
_LONGEST = timedelta(days=365_000)


@clock.once
def clean(
    *,
    by: Any = None,
    client: Client | None = None,
    actor_type: str = SYSTEM,
    batch_size: int = BATCH,
    at_most: int | None = None,
    permitted: AbstractContextManager[Any] | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> int:
    """Delete expired entries; returns how many. `progress` gets the number of entries read.

    The entry about this cleanup is written within `permitted`, a transaction that checks the
    caller's permission and raises without it.
    """
    started_at = clock.utc()  # before the entry of this run, so that the run does not delete it
    event = Event(
        action=CLEANED,
        user=by,
        actor_type=actor_type,
        client=client or Client(),
        metadata={"deleted": 0},
    )
    with permitted or nullcontext():
        entry = writer.write(event)
        deleted = 0
        processed = 0
    with planned_for_values(databases.primary()):
        for rows, pks in _batches(started_at, batch_size, at_most):
            with transaction.atomic(using=rows.db):
                deleted += cleanup.delete(rows, pks)
                result = {"request_id": event.client.request_id, "deleted": deleted}
                Entry.objects.filter(pk=entry.pk).update(metadata=writer.as_text(result))
            progress(processed := processed + len(pks))
    return deleted


def _batches(
    now: datetime, size: int, at_most: int | None
) -> Iterator[tuple[QuerySet[Entry], list[Any]]]:
    remaining = at_most  # None: all
    for rows in due(now):
        for pks in cleanup.batches(rows, size):
            if remaining is not None:
                pks, remaining = pks[:remaining], remaining - len(pks)
            if pks:
                yield rows, pks
            if remaining is not None and remaining <= 0:
                return


def due_number() -> int:
    """How many entries a cleanup would delete now."""
    return sum(rows.count() for rows in due(clock.utc()))


def due(now: datetime) -> Iterator[QuerySet[Entry]]:
    """The expired entries, one queryset per action: the index on action and id serves each."""
    for action, age in _ages(Entry.objects.all()):
        if age is not None:
            yield Entry.objects.filter(action=action, pk__lt=clock.least_uuid7(now - age))


def sorted_actions(rows: QuerySet[Entry], now: datetime) -> tuple[list[str], list[str]]:
    """The actions of which `rows` has expired entries, and the actions of which it has entries to
    keep. An action may be in both lists."""
    expired, retained = [], []
    for action, age in _ages(rows):
        first_kept = (
            clock.least_uuid7(now - age)
            if age is not None
            else clock.least_uuid7(datetime.min.replace(tzinfo=UTC))
        )
        entries = rows.filter(action=action)
        if entries.filter(pk__lt=first_kept).exists():
            expired.append(action)
        if entries.filter(pk__gte=first_kept).exists():
            retained.append(action)
    return expired, retained


def _ages(rows: QuerySet[Entry]) -> Iterator[tuple[str, timedelta | None]]:
    """The actions of `rows`, each with how long its entries are kept; None for those that are never
    deleted."""
    ages = policy()
    # One index look-up for each action (a loose index scan).
    names = rows.order_by("action").values_list("action", flat=True)
    action = names.first()
    while action is not None:
        prefixes = [prefix for prefix in ages if action.startswith(prefix)]
        yield action, ages[max(prefixes, key=len)] if prefixes else None
        action = names.filter(action__gt=action).first()


def policy() -> Mapping[str, timedelta | None]:
    """The defaults, overridden by the settings. Raises TypeError for a value that is not
    a duration."""
    return {**RETENTION, **{prefix: duration(value) for prefix, value in conf.retention.items()}}


def duration(raw: Any) -> timedelta | None:
    """A timedelta, or None for entries that are never deleted. Raises TypeError with the rule as
    its text."""
    if raw is None:
        return None
    age = convert(raw, timedelta)
    if age < timedelta(0):
        raise TypeError("a duration that is not negative")
    return timedelta(seconds=min(age, _LONGEST).total_seconds())
