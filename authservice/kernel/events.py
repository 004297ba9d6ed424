"""Events: what happened to a user, for the audit log and the host project.

The slot `event_listener` (the audit module) is called in the transaction of the action, so no
action is stored without its audit entry. Host projects receive the public events as Django signals
after commit.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from django.db.models import Model

from authservice.kernel import actions, databases
from authservice.kernel.client import Client
from authservice.kernel.interfaces import Person
from authservice.kernel.modules import Slot, plugs
from authservice.kernel.sql import Bound

logger = logging.getLogger("authservice.events")


@dataclass(frozen=True, kw_only=True)
class Event:
    """One event.

    `user` is the actor (None for a failed login with an unknown identifier), `target` the affected
    row if that is not the actor: a user, or an organization. `metadata` holds JSON-serializable
    values and never a secret. The severity comes from `actions.ACTIONS`; an unknown action raises
    `KeyError`.
    """

    action: str
    user: AbstractBaseUser | None = None
    target: Model | None = None
    actor_type: str = actions.USER
    severity: str = field(init=False)
    client: Client = field(default_factory=Client)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "severity", actions.ACTIONS[self.action].severity)


class EventListener(Slot):
    """Slot `event_listener`: stores events in the transaction of the action.

    If it raises, the action fails.
    """

    slot = "event_listener"

    def listens(self, action: str) -> bool:
        """Whether the listener stores events of this action."""
        return True

    def record(self, event: Event) -> None:
        """Store one event."""

    def record_all(self, events: Sequence[Event]) -> None:
        """Store the events of a batch, such as that of an import, which are of one action."""
        for event in events:
            self.record(event)

    def statements(self, events: Sequence[Event]) -> Sequence[Bound] | None:
        """The statements that store the events of a login: the service runs them together with
        those of the login. None if there are no such statements: then `record` is called for each
        event."""
        return None


def record(
    action: str,
    person: Person | None,
    client: Client,
    /,
    *,
    target: Model | None = None,
    **metadata: Any,
) -> None:
    """Record an action of a user; `person` is None if the identifier in the request is unknown.

    `target` is the affected row if that is not the user: another user, or an organization. The
    listeners are called in the current transaction, the signal receivers after commit.
    """
    if _is_noticed(action):
        user = person.user if person else None
        _notify(Event(action=action, user=user, target=target, client=client, metadata=metadata))


def record_by_staff(
    action: str,
    by: AbstractBaseUser | None,
    target: Model | None,
    client: Client,
    /,
    **metadata: Any,
) -> None:
    """Record an action on `target`, the row of a user or an organization, by the member of staff
    `by`, a row of the host's user model; None for the service itself or an operator in a shell."""
    if _is_noticed(action):
        _notify(
            Event(
                action=action,
                user=by,
                target=target,
                actor_type=actions.SYSTEM if by is None else actions.ADMIN,
                client=client,
                metadata=metadata,
            )
        )


def record_all_by_staff(
    action: str,
    by: AbstractBaseUser | None,
    targets: Sequence[Model],
    client: Client,
    /,
    **metadata: Any,
) -> None:
    """Record the same action on many rows, for imports.

    A listener gets all events at once, so that it needs few statements.
    """
    if not targets or not _is_noticed(action):
        return
    actor_type = actions.SYSTEM if by is None else actions.ADMIN
    events = [
        Event(
            action=action,
            user=by,
            target=row,
            actor_type=actor_type,
            client=client,
            metadata=metadata,
        )
        for row in targets
    ]
    for listener in _listeners(action):
        listener.record_all(events)
    for event in events:
        _send_after_commit(event)


class Batch:
    """Events of users in one transaction, whose entries are written together with other rows.

    Run `statements` in the transaction of the actions, then call `notify`.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._without_statement: list[tuple[EventListener, Event]] = []

    def add(self, action: str, person: Person, client: Client, /, **metadata: Any) -> None:
        if _is_noticed(action):
            self._events.append(
                Event(action=action, user=person.user, client=client, metadata=metadata)
            )

    def statements(self) -> list[Bound]:
        """The statements with which listeners store these events."""
        statements: list[Bound] = []
        for listener in plugs(EventListener):
            events = [event for event in self._events if listener.listens(event.action)]
            prepared = listener.statements(events)
            if prepared is None:
                self._without_statement += [(listener, event) for event in events]
            else:
                statements += prepared
        return statements

    def notify(self) -> None:
        """Call `record` of the listeners without statements, and the signal receivers after
        commit."""
        for listener, event in self._without_statement:
            listener.record(event)
        for event in self._events:
            _send_after_commit(event)


def has_listener(action: str) -> bool:
    """Whether a listener is called for this action, in its transaction."""
    return bool(_listeners(action))


def _listeners(action: str) -> list[EventListener]:
    return [listener for listener in plugs(EventListener) if listener.listens(action)]


def _is_noticed(action: str) -> bool:
    """Whether there is a listener or a receiver. If there is neither, no event is built."""
    signal = actions.ACTIONS[action].signal
    return (signal is not None and bool(signal.receivers)) or any(
        listener.listens(action) for listener in plugs(EventListener)
    )


def _notify(event: Event) -> None:
    for listener in _listeners(event.action):
        listener.record(event)
    _send_after_commit(event)


def _send_after_commit(event: Event) -> None:
    signal = actions.ACTIONS[event.action].signal
    if signal is not None and signal.receivers:

        def send() -> None:
            for receiver, outcome in signal.send_robust(sender=Event, event=event, user=event.user):
                if isinstance(outcome, Exception):
                    logger.error(
                        "Receiver %r of %s failed", receiver, event.action, exc_info=outcome
                    )

        transaction.on_commit(send, using=databases.primary(), robust=True)
