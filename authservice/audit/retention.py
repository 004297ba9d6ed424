"""How long entries are kept, and deleting those that are older.

Each batch is a transaction of its own that waits for no row and holds none for long; the number of
what was deleted is written into the run's own entry by the same transaction, so that a run that is
broken off has still said what it did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from authservice.audit import writer
from authservice.audit.conf import RETENTION, conf
from authservice.audit.models import Entry
from authservice.core import cleanup
from authservice.kernel import databases
from authservice.kernel.actions import SYSTEM
from authservice.kernel.client import Client
from authservice.kernel.events import Event
from authservice.kernel.settings import convert
from authservice.kernel.sql import planned_for_values
from authservice.kernel.uuid7 import least

BATCH = 1000
# Longer than any entry, and no longer than the calendar goes back from here.
_AGES = timedelta(days=365_000)


def policy() -> Mapping[str, timedelta | None]:
    """The defaults and what the host says otherwise. Raises TypeError for what is no duration."""
    return {**RETENTION, **{stem: duration(kept) for stem, kept in conf.retention.items()}}


def duration(kept: Any) -> timedelta | None:
    """A timedelta, or None for ever. Raises TypeError, which says what it must be."""
    if kept is None:
        return None
    given = convert(kept, timedelta)
    if given < timedelta(0):
        raise TypeError("a duration that is not negative")
    return timedelta(seconds=min(given, _AGES).total_seconds())


def clean(
    *,
    by: Any = None,
    client: Client | None = None,
    actor_type: str = SYSTEM,
    batch_size: int = BATCH,
    at_most: int | None = None,
    permitted: AbstractContextManager[Any] | None = None,
) -> int:
    """Delete expired entries; returns how many.

    The entry about this cleanup is written within `permitted`, a transaction that checks the
    caller's permission and raises without it.
    """
    begun = datetime.now(UTC)  # before the run's own entry, which is not to be deleted by it
    event = Event(
        action="admin.audit.cleaned",
        user=by,
        actor_type=actor_type,
        client=client or Client(),
        metadata={"deleted": 0},
    )
    with permitted or nullcontext():
        run, deleted = writer.write(event), 0
    with planned_for_values(databases.primary()):
        for rows, pks in _batches(begun, batch_size, at_most):
            with transaction.atomic(using=rows.db):
                deleted += cleanup.delete(rows, pks)
                said = {"request_id": event.client.request_id, "deleted": deleted}
                _all().filter(pk=run.pk).update(metadata=writer.as_text(said))
    return deleted


def due(now: datetime) -> Iterator[QuerySet[Entry]]:
    """What may go, action by action: an index has them together, in the order of time."""
    kept = policy()
    for action in _actions():
        stems = [stem for stem in kept if action.startswith(stem)]
        age = kept[max(stems, key=len)] if stems else None
        if age is not None:
            yield _all().filter(action=action, pk__lt=least(now - age))


def _batches(
    now: datetime, size: int, at_most: int | None
) -> Iterator[tuple[QuerySet[Entry], list[Any]]]:
    left = at_most
    for rows in due(now):
        for pks in cleanup.batches(rows, size):
            if left is not None:
                pks, left = pks[:left], left - len(pks)
            if pks:
                yield rows, pks
            if left is not None and left <= 0:
                return


def _actions() -> Iterator[str]:
    """The actions that there are entries of: one look into the index for each."""
    names = _all().order_by("action").values_list("action", flat=True)
    action = names.first()
    while action is not None:
        yield action
        action = names.filter(action__gt=action).first()


def _all() -> QuerySet[Entry]:
    return Entry.objects.using(databases.primary())
