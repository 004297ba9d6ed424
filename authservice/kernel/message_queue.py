"""E-mail and SMS as core sees them: a job that names a kind and a target and contains no secret.

A known and an unknown target get the same job, so neither response time nor the queue reveals
whether an account exists. The worker looks the target up, issues the one-time token and sends the
message. Without a messenger nothing is sent.
"""

from __future__ import annotations

import logging
import traceback
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
SIGNUP_UNPROVEN = "signup-unproven"
VERIFY_PHONE = "verify-phone"
RESET_BY_LINK = "reset-link"
RESET_BY_CODE = "reset-code"
PASSWORD_CHANGED = "password-changed"  # noqa: S105 a kind of message, not a password
EMAIL_CONFIRMED = "email-confirmed"
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
CHANGE_EMAIL = "change-email"
EMAIL_TAKEN = "email-taken"
EMAIL_CHANGE_REQUESTED = "email-change-requested"
EMAIL_CHANGED = "email-changed"
EMAIL_CHANGE_CONFIRMED = "email-change-confirmed"
DELETE_ACCOUNT = "delete-account"
ACCOUNT_DELETED = "account-deleted"

# Kinds that a user waits for although no request limit counts them, such as at signup.
_WAITED_FOR = frozenset(
    {VERIFY_EMAIL, SIGNUP, VERIFY_PHONE, RESET_BY_LINK, RESET_BY_CODE, ACCOUNT_MADE}
)


@dataclass(frozen=True, kw_only=True)
class Message:
    """One job.

    `target` is an e-mail address or an E.164 number. `language` is a Django language code or "".
    `details` holds JSON values for the templates, such as time and client, and never a secret.
    `requested` is true if a user requested the message and the request passed its limits.
    `not_before` is the ISO 8601 time before which the job must not run, or "".
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
        """Whether no user waits for the message, so that the worker may send others first."""
        return not (self.requested or self.kind in _WAITED_FOR)

    @property
    def delay(self) -> timedelta:
        """Time from now until the job may run; zero if it may run now."""
        if not self.not_before:
            return timedelta(0)
        return max(datetime.fromisoformat(self.not_before) - timezone.now(), timedelta(0))


class Messenger(Protocol):
    """Slot `messenger`: enqueues a job. A worker looks up the target, issues the one-time token and
    sends the message."""

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
    # The action is committed: a queue that is unavailable must not turn it into an error.
    try:
        messenger.send(message)
    except Exception as wrong:
        # Neither text nor traceback: a mail server, a provider or a dispatcher of the project may
        # quote the recipient in it.
        fault = f"{type(wrong).__name__}{place(wrong)}"
        logger.error("Lost %s of request %s: %s", message.kind, message.request_id, fault)


def place(wrong: BaseException) -> str:
    """Where the error was raised, such as " at /usr/lib/python3.12/smtplib.py:257"; "" if that is
    unknown. For a log without the texts of errors."""
    frames = traceback.extract_tb(wrong.__traceback__)
    return f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def describe_client(client: Client) -> dict[str, str]:
    """Client and time of an action, for the `details` of a security notice."""
    return {
        "user_agent": client.user_agent,
        "ip_address": client.address,
        "at": timezone.now().isoformat(),
    }


def can_mail() -> bool:
    """Whether e-mail can be sent: a messenger is installed."""
    return plug("messenger") is not None


def can_sms() -> bool:
    """Whether SMS can be sent: the installed messenger has an SMS sender."""
    messenger = plug("messenger")
    return messenger is not None and messenger.can_sms
