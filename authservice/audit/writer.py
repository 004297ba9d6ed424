"""Writes an entry in the transaction of its action: an action without its entry is rolled back.

There is no savepoint, and no exception is caught. A refusal is recorded outside any transaction, so
that its entry stays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.utils import timezone

from authservice.audit.conf import conf
from authservice.audit.models import AGENT, Entry
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases
from authservice.kernel.actions import ACTIONS
from authservice.kernel.events import Event, EventListener
from authservice.kernel.sql import Bound, Insert

LOGINS, CHANGES, SECURITY = "logins", "changes", "security"

_PREFIXES: Mapping[str, tuple[str, ...]] = {
    LOGINS: ("auth.login.", "auth.logout", "auth.token."),
    CHANGES: ("user.",),
    SECURITY: ("auth.2fa.", "auth.password.", "security."),
}
TEXT = 2048  # characters of a text in the metadata: the longest text field of an account
_INSERT = Insert(lambda: Entry)


def category_of(action: str) -> str:
    """The category of an action, or "" if it has none."""
    return next((name for name, prefixes in _PREFIXES.items() if action.startswith(prefixes)), "")


class Writer(EventListener):
    """Fills the slot `event_listener`."""

    def record(self, event: Event) -> None:
        for statement in self.statements([event]):
            statement.run()

    def listens(self, action: str) -> bool:
        """Whether this action is recorded."""
        return action not in conf.exclude

    @clock.once
    def statements(self, events: Sequence[Event]) -> list[Bound]:
        """The statement that writes the entries of these events, if there are any."""
        entries = map(_entry, events)
        return [_INSERT.bound(databases.primary(), *entries)] if events else []

    @clock.once
    def record_all(self, events: Sequence[Event]) -> None:
        """Write the entries of a batch, which may be too long for one statement."""
        Entry.objects.using(databases.primary()).bulk_create(map(_entry, events))


record_event = Writer()


@clock.once
def write(event: Event) -> Entry:
    entry = _entry(event)
    _INSERT.run(databases.primary(), entry)
    return entry


def as_text(metadata: Mapping[str, Any]) -> str:
    """JSON in ASCII on one line, for any content and any character set of the database."""
    return json.dumps(_cut(metadata), default=str, separators=(",", ":"))


@clock.once  # The id and `created_at` share one time, also outside of a request.
def _entry(event: Event) -> Entry:
    now, client = clock.utc(), event.client
    target: Any = event.target
    target_type = ""
    if target is not None:
        is_user = isinstance(target, host().model)
        target_type = "user" if is_user else target._meta.model_name
    details, reason = ACTIONS[event.action].text, event.metadata.get("reason")
    if reason:
        details = f"{details.rstrip('.')}: {reason}."
    return Entry(
        id=clock.uuid7_of(now, clock.number()),  # entries with one time sort as they were written
        action=event.action,
        severity=event.severity,
        topic=category_of(event.action),
        actor_id=_key(event.user),
        actor_type=event.actor_type,
        target_id=_key(target),
        target_type=target_type,
        details=details,
        metadata=as_text({"request_id": client.request_id, **event.metadata}),
        ip_address=client.address,
        user_agent=client.user_agent[:AGENT],
        created_at=now if settings.USE_TZ else timezone.make_naive(now),
    )


def _key(row: Any) -> str:
    return "" if row is None else str(row.pk)


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value[:TEXT]
    if isinstance(value, Mapping):
        return {str(name): _cut(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_cut(inner) for inner in value]
    return value
