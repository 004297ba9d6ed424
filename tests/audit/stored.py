"""Entries of any moment, put into the log past every deed."""

from django.conf import settings
from django.utils import timezone

from authservice.audit import writer
from authservice.audit.models import Entry
from authservice.kernel.events import Event
from authservice.kernel.uuid7 import uuid7_of


def keep(action, actor=None, target=None, **more):
    """An entry of a moment."""
    (entry,) = keep_all([made(action, actor, target, **more)])
    return entry


def keep_all(several):
    """The entries, written at once."""
    return Entry.objects.bulk_create(several)


def made(action, actor=None, target=None, *, at=None, **more):
    """An entry as it would be kept."""
    entry = writer._entry(Event(action=action, user=actor, target=target, **more))
    if at is not None:
        entry.id = uuid7_of(at)
        entry.created_at = at if settings.USE_TZ else timezone.make_naive(at)
    return entry
