"""Facts worth knowing: one frozen `Event`, one `tell`.

The listener slot (the audit module) hears an event inside the transaction of the deed, so that no
deed exists without its entry. Hosts hear the public ones as Django signals, after the commit.
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
from authservice.kernel import actions
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
    """One fact.

    `user` is the actor (None when a refused sign-in named nobody), `target` whom it was done to
    when that is somebody else. `metadata` holds JSON-able values and never a secret. How grave it
    is stands in the table of actions; a KeyError says that the action does not.
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


def tell(event: Event, *, using: str | None = None) -> None:
    """Tell the listeners now and the host's receivers once the transaction on `using` commits."""
    for listener in plugs("listener"):
        listener(event)
    signal = SIGNALS.get(event.action)
    if signal is not None and signal.receivers:
        transaction.on_commit(partial(_send, signal, event), using=using, robust=True)


def _send(signal: Signal, event: Event) -> None:
    for receiver, outcome in signal.send_robust(sender=Event, event=event, user=event.user):
        if isinstance(outcome, Exception):
            logger.error("Receiver %r of %s failed", receiver, event.action, exc_info=outcome)
