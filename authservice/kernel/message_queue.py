"""E-mail and SMS as core sees them: a job that names a kind and a target and contains no secret.

A known and an unknown target get the same job, so neither response time nor the queue reveals
whether an account exists. The worker looks the target up, issues the one-time token and sends the
message. Without a messenger nothing is sent.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Self

from django.db import transaction

from authservice.kernel import clock, measures
from authservice.kernel.client import Client
from authservice.kernel.modules import Slot, awaited_messages, plug

logger = logging.getLogger("authservice.messages")


@dataclass(frozen=True, kw_only=True)
class Message:
    """One job.

    `target` is an e-mail address or an E.164 number. `language` is a Django language code or "".
    `details` holds JSON values for the templates, such as time and client, and never a secret.
    `requested` is true if a user requested the message and the request passed its limits.
    `not_before` is the ISO 8601 time before which the job must not run, or "". `state` is what
    `NOTIFICATION.CAPTURE` returned, such as the schema of a tenant.
    """

    kind: str
    target: str
    language: str = ""
    request_id: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    requested: bool = False
    not_before: str = ""
    state: Any = None

    @classmethod
    def from_dict(cls, job: Mapping[str, Any]) -> Self:
        """The job of a queue or a row. Fields that this version does not know are ignored: after a
        return to an earlier version of this package, jobs of the later one still wait. So no
        version may add a field that changes what the others mean."""
        names = {entry.name for entry in fields(cls)}
        return cls(**{name: value for name, value in job.items() if name in names})

    @property
    def is_notice(self) -> bool:
        """Whether no user waits for the message, so that the worker may send others first."""
        return not (self.requested or self.kind in awaited_messages())

    @property
    def delay(self) -> timedelta:
        """Time from now until the job may run; zero if it may run now."""
        if not self.not_before:
            return timedelta(0)
        return max(datetime.fromisoformat(self.not_before) - clock.now(), timedelta(0))


class Messenger(Slot):
    """Slot `messenger`: enqueues a job. A worker looks up the target, issues the one-time token and
    sends the message.

    The last messenger in `INSTALLED_APPS` counts: leave `authservice.notification` out, or list it
    before your own. A job has no link and no code. To send those by chat or push, this slot is not
    needed: a mail backend or `NOTIFICATION.SMS_SENDER` gets the finished message.
    """

    slot = "messenger"

    @property
    def can_sms(self) -> bool:
        """Whether text messages can be sent, not only e-mails."""
        return False

    def send(self, message: Message) -> None:
        """Enqueue the job. Called after the commit of the action."""


def send(
    kind: str,
    target: str,
    client: Client,
    *,
    using: str | None = None,
    details: Mapping[str, Any] | None = None,
    requested: bool = False,
    not_before: datetime | None = None,
) -> None:
    """Enqueue the job once the transaction on `using` commits; see `Message`."""
    if not target:
        return
    message = Message(
        kind=kind,
        target=target,
        language=client.language,
        request_id=client.request_id,
        details=dict(details or {}),
        requested=requested,
        not_before=not_before.isoformat() if not_before else "",
    )
    enqueue(message, using=using)


def enqueue(message: Message, *, using: str | None = None) -> None:
    """Like `send`, for a job that exists already, such as one that was lost."""
    messenger = plug(Messenger)
    if messenger is not None:
        transaction.on_commit(partial(_hand_over, messenger, message), using=using)


def _hand_over(messenger: Messenger, message: Message) -> None:
    # The action is committed: a queue that is unavailable must not turn it into an error.
    try:
        messenger.send(message)
    except Exception as error:
        # Neither text nor traceback of the error: a mail server, a provider or a dispatcher of the
        # project may quote the recipient in it.
        fault = f"{type(error).__name__}{place(error)}"
        logger.error("Lost %s of request %s: %s", message.kind, message.request_id, fault)
        measures.message(message.kind, message.target, measures.LOST)


def place(error: BaseException) -> str:
    """Where the error was raised, such as " at /usr/lib/python3.12/smtplib.py:257"; "" if that is
    unknown. For a log without the texts of errors."""
    frames = traceback.extract_tb(error.__traceback__)
    return f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def describe_client(client: Client) -> dict[str, str]:
    """Client and time of an action, for the `details` of a security notice."""
    return {
        "user_agent": client.user_agent,
        "ip_address": client.address,
        "at": clock.now().isoformat(),
    }


def can_mail() -> bool:
    """Whether e-mail can be sent: a messenger is installed."""
    return plug(Messenger) is not None


def can_sms() -> bool:
    """Whether SMS can be sent: the installed messenger has an SMS sender."""
    messenger = plug(Messenger)
    return messenger is not None and messenger.can_sms
