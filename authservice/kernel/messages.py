"""Mail and SMS as core sees them: a job that names a kind and a target and carries no secret.

The same job is made for a known and an unknown target, so neither time nor queue tells them apart;
the worker looks up, mints the one-time secret and sends. Without a messenger nothing is sent.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from django.db import transaction
from django.utils import timezone

from authservice.kernel.client import Client
from authservice.kernel.modules import plug

logger = logging.getLogger("authservice.messages")

VERIFY_EMAIL = "verify-email"
SIGNUP = "signup"
VERIFY_PHONE = "verify-phone"
RESET_BY_LINK = "reset-link"
RESET_BY_CODE = "reset-code"
PASSWORD_CHANGED = "password-changed"  # noqa: S105 a kind of mail
ACCESS_WIPED = "access-wiped"
WELCOME = "welcome"
NEW_DEVICE = "new-device"
ACCOUNT_MADE = "account-made"


@dataclass(frozen=True, kw_only=True)
class Message:
    """One job.

    `target` is an e-mail address or an E.164 number, `language` a Django language code or "",
    `details` JSON-able facts to tell, such as when and from where; never a secret.
    """

    kind: str
    target: str
    language: str = ""
    request_id: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


class Messenger(Protocol):
    """Slot `messenger`: takes a job to be looked up, minted and sent by a worker."""

    can_sms: bool

    def send(self, message: Message) -> None: ...


def send(
    kind: str,
    target: str,
    client: Client,
    *,
    using: str | None = None,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Hand the job over once the transaction on `using` commits."""
    messenger = plug("messenger")
    if messenger is None or not target:
        return
    message = Message(
        kind=kind,
        target=target,
        language=client.language,
        request_id=client.request_id,
        details=dict(details or {}),
    )
    transaction.on_commit(partial(_hand_over, messenger, message), using=using)


def _hand_over(messenger: Messenger, message: Message) -> None:
    # The deed is done and committed: a queue that is away must not make it look undone.
    try:
        messenger.send(message)
    except Exception:
        logger.exception("Lost %s of request %s", message.kind, message.request_id)


def seen(client: Client) -> dict[str, str]:
    """From where and when something was done: details for a notice to its owner."""
    return {
        "user_agent": client.user_agent,
        "ip_address": client.address,
        "at": timezone.now().isoformat(),
    }


def can_mail() -> bool:
    """Whether somebody is there to send mail."""
    return plug("messenger") is not None


def can_sms() -> bool:
    """Whether somebody is there to send text messages."""
    messenger = plug("messenger")
    return messenger is not None and messenger.can_sms
