"""Telling what happened to people, in the transaction of the database they are in."""

from __future__ import annotations

from authservice.core import directory
from authservice.kernel import events
from authservice.kernel.events import Event


def tell(event: Event) -> None:
    """Heard by the listeners now, by the host's receivers once the people's database commits."""
    events.tell(event, using=directory.database())
