"""Sessions that began, and proved what they proved, some time ago."""

from __future__ import annotations

from datetime import timedelta

from authservice.core.models import Session
from authservice.kernel.levels import Record


def age_sessions(minutes: float = 11, seconds: float = 0) -> None:
    """Put the proofs of all sessions back by this time."""
    back = timedelta(minutes=minutes, seconds=seconds)
    for session in Session.objects.all():
        record = Record()
        for event in Record(session.levels):
            record = record.with_event(event.proofs, event.at - back)
        times = {"levels": record.text, "auth_time": session.auth_time - back}
        Session.objects.filter(pk=session.pk).update(**times)
