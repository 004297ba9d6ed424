"""Events: what happened to a user, for the audit log and the host project.

The slot `event_listener` (the audit module) is called in the transaction of the action, so no
action is stored without its audit entry. Host projects receive the public events as Django signals
after commit.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import transaction
from django.dispatch import Signal

from authservice import signals
from authservice.kernel import actions, databases
from authservice.kernel.client import Client
from authservice.kernel.modules import plugs

logger = logging.getLogger("authservice.events")

SIGNALS: dict[str, Signal] = {
    "auth.signup": signals.signed_up,
    "auth.login.success": signals.signed_in,
    "auth.login.failed": signals.sign_in_failed,
    "auth.logout": signals.signed_out,
    "auth.token.refreshed": signals.tokens_refreshed,
    "auth.token.reuse_detected": signals.token_reuse_detected,
    "security.account.throttled": signals.account_throttled,
}


@dataclass(frozen=True, kw_only=True)
class Event:
    """One event.

    `user` is the actor (None for a failed login with an unknown identifier), `target` the affected
    user if that is not the actor. `metadata` holds JSON-serializable values and never a secret. The
    severity comes from `actions.ACTIONS`; an unknown action raises `KeyError`.
    """

    action: str
    user: Any = None
    target: Any = None
    actor_type: str = actions.USER
    severity: str = field(init=False)
    client: Client = field(default_factory=Client)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "severity", actions.ACTIONS[self.action].severity)


def record(event: Event) -> None:
    """Notify listeners in the current transaction, and signal receivers after commit."""
    for listener in plugs("event_listener"):
        listener(event)
    signal = SIGNALS.get(event.action)
    if signal is not None and signal.receivers:
        transaction.on_commit(partial(_send, signal, event), using=databases.primary(), robust=True)


def _send(signal: Signal, event: Event) -> None:
    for receiver, outcome in signal.send_robust(sender=Event, event=event, user=event.user):
        if isinstance(outcome, Exception):
            logger.error("Receiver %r of %s failed", receiver, event.action, exc_info=outcome)
