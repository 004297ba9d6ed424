"""The instruments of OpenTelemetry, and the receivers of what they count: events of users, and the
signals of `authservice.kernel.measures`.

No label names a person: no user, address, network or request. A label has few values, since each
combination is a series of its own: names of methods, kinds of messages, providers of the settings.

The API of OpenTelemetry alone counts nothing. The project installs an SDK and sets a meter
provider, at any time: until then an instrument does nothing, and afterwards it uses the provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from opentelemetry.metrics import get_meter

import authservice
from authservice import signals
from authservice.kernel import databases, measures
from authservice.kernel.events import Event, EventListener

_meter = get_meter("authservice", authservice.__version__)
# Seconds. A wait for a hash ends after two, a call of another service after `OUTBOUND.TIMEOUT`.
_BOUNDARIES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30)

logins = _meter.create_counter(
    "authservice.logins", unit="{login}", description="Logins by method, outcome and reason."
)
second_factors = _meter.create_counter(
    "authservice.second_factors", unit="{check}", description="Checks of second factors at logins."
)
signups = _meter.create_counter(
    "authservice.signups", unit="{signup}", description="Accounts that users created."
)
refreshes = _meter.create_counter(
    "authservice.refreshes", unit="{refresh}", description="Refresh tokens exchanged for new ones."
)
reuses = _meter.create_counter(
    "authservice.refresh_reuses",
    unit="{session}",
    description="Sessions that ended because a used refresh token was sent again.",
)
lockouts = _meter.create_counter(
    "authservice.lockouts", unit="{lockout}", description="Limits on attempts that were reached."
)
messages = _meter.create_counter(
    "authservice.messages", unit="{message}", description="E-mails and text messages by outcome."
)
hash_wait = _meter.create_histogram(
    "authservice.password_hash.wait",
    unit="s",
    description="How long requests waited for a password hash.",
    explicit_bucket_boundaries_advisory=_BOUNDARIES,
)
outbound = _meter.create_histogram(
    "authservice.outbound.duration",
    unit="s",
    description="How long calls of other services took.",
    explicit_bucket_boundaries_advisory=_BOUNDARIES,
)

# For each action: its counter, its fixed labels, and the names of the labels whose values are in
# the metadata of the event. A label that the event lacks has the value of `_ABSENT`, else
# "password".
_COUNTED: Mapping[str, tuple[Any, Mapping[str, str], tuple[str, ...]]] = {
    "auth.login.success": (logins, {"outcome": "success", "reason": ""}, ("method",)),
    "auth.login.challenged": (logins, {"outcome": "challenged", "reason": ""}, ("method",)),
    "auth.login.failed": (logins, {"outcome": "failed"}, ("method", "reason")),
    "auth.2fa.verified": (second_factors, {"outcome": "success"}, ("method",)),
    "auth.2fa.failed": (second_factors, {"outcome": "failed"}, ("method",)),
    "auth.signup": (signups, {}, ("method",)),
    "auth.token.reuse_detected": (reuses, {}, ()),
    "security.account.throttled": (lockouts, {}, ("method",)),
}
# A failed second factor without a method is an answer to an unknown challenge. The other events
# without a method are sign-ups with a password and limits on attempts at a password.
_ABSENT = {"auth.2fa.failed": "unknown"}


class Counting(EventListener):
    """Fills the slot `event_listener`. Counts after the commit, since a transaction that the
    database aborts is repeated. It stores nothing, so it adds no statement."""

    def listens(self, action: str) -> bool:
        # Refreshes are counted by a signal instead: a listener would put each into a transaction.
        return action in _COUNTED

    def record(self, event: Event) -> None:
        counter, labels, names = _COUNTED[event.action]
        absent = _ABSENT.get(event.action, "password")
        event_labels = {name: str(event.metadata.get(name, absent)) for name in names}

        # Not a `partial`: before Django 6.1 a robust callback that fails must have a name.
        def count() -> None:
            counter.add(1, {**labels, **event_labels})

        transaction.on_commit(count, using=databases.primary(), robust=True)


counting = Counting()


def connect() -> None:
    signals.tokens_refreshed.connect(_refreshed)
    measures.messages.connect(_message)
    measures.hash_waits.connect(_hash_wait)
    measures.outbound_calls.connect(_outbound_call)


def _refreshed(**_: Any) -> None:
    refreshes.add(1)


def _message(channel: str, kind: str, outcome: str, **_: Any) -> None:
    messages.add(1, {"channel": channel, "kind": kind, "outcome": outcome})


def _hash_wait(seconds: float, acquired: bool, **_: Any) -> None:
    hash_wait.record(seconds, {"outcome": "hashed" if acquired else "refused"})


def _outbound_call(service: str, outcome: str, seconds: float, **_: Any) -> None:
    outbound.record(seconds, {"service": service, "outcome": outcome})
