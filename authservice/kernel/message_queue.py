"""Mail and SMS as core sees them: a job that names a kind and a target and carries no secret.

The same job is made for a known and an unknown target, so neither time nor queue tells them apart;
the worker looks up, mints the one-time secret and sends. Without a messenger nothing is sent.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
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
ACCESS_REMOVED = "access-removed"
ACCOUNT_SECURED = "account-secured"
PHONE_CHANGED = "phone-changed"
PHONE_CHANGED_TEXT = "phone-changed-text"
RESET_BY_CODE_REFUSED = "reset-code-refused"
WELCOME = "welcome"
NEW_DEVICE = "new-device"
NEW_DEVICES = "new-devices"
ACCOUNT_MADE = "account-made"
CHANGED_BY_STAFF = "changed-by-staff"

# Kinds that a user waits for although the request was not counted, such as at sign-up.
_WAITED_FOR = frozenset(
    {VERIFY_EMAIL, SIGNUP, VERIFY_PHONE, RESET_BY_LINK, RESET_BY_CODE, ACCOUNT_MADE}
)


@dataclass(frozen=True, kw_only=True)
class Message:
    """One job.

    `target` is an e-mail address or an E.164 number, `language` a Django language code or "",
    `details` JSON values for the templates, such as time and client; never a secret. `requested`
    says that the message was requested and has passed the limits of requests. `not_before` is the
    ISO 8601 time before which the job must not run, or "".
    """

    kind: str
    target: str
    language: str = ""
    request_id: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    requested: bool = False
    not_before: str = ""

    @property
    def is_notice(self) -> bool:
        """Whether no user waits for the message, so that others may be sent first."""
        return not (self.requested or self.kind in _WAITED_FOR)

    @property
    def delay(self) -> timedelta:
        """How long the job has to wait from now on."""
        if not self.not_before:
            return timedelta(0)
        return max(datetime.fromisoformat(self.not_before) - timezone.now(), timedelta(0))


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
    requested: bool = False,
    not_before: datetime | None = None,
) -> None:
    """Enqueue the job once the transaction on `using` commits; see `Message`."""
    messenger = plug("messenger")
    if messenger is None or not target:
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
