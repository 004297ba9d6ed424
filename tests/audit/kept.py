"""Entries of any moment, put into the log past every deed."""

from django.conf import settings
from django.utils import timezone

from authservice.audit import entries
from authservice.kernel.events import Event
from authservice.kernel.ids import uuid7_of


def keep(action, actor=None, target=None, *, at=None, **more):
    """An entry of a moment."""
    entry = entries._entry(Event(action=action, user=actor, target=target, **more))
    if at is not None:
        entry.id = uuid7_of(at)
        entry.created_at = at if settings.USE_TZ else timezone.make_naive(at)
    entry.save(force_insert=True)
    return entry
