"""Writes audit entries with any timestamp directly to the table, without an action."""

from django.conf import settings
from django.utils import timezone

from authservice.audit import writer
from authservice.audit.models import Entry
from authservice.kernel.clock import uuid7_of
from authservice.kernel.events import Event


def store(action, actor=None, target=None, **more):
    """Store one entry and return it."""
    (entry,) = store_all([unsaved(action, actor, target, **more)])
    return entry


def store_all(several):
    """Store the entries in one statement."""
    return Entry.objects.bulk_create(several)


def unsaved(action, actor=None, target=None, *, at=None, **more):
    """Return an unsaved entry, as the writer makes it."""
    entry = writer._entry(Event(action=action, user=actor, target=target, **more))
    if at is not None:
        entry.id = uuid7_of(at)
        entry.created_at = at if settings.USE_TZ else timezone.make_naive(at)
    return entry
