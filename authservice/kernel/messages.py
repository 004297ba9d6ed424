"""Mail and SMS as core sees them: a job that names a kind and a target and carries no secret.

The same job is made for a known and an unknown target, so neither time nor queue tells them apart;
the worker looks up, mints the one-time secret and sends. Without a messenger nothing is sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from django.db import transaction

from authservice.kernel.modules import plug
from authservice.kernel.ports import Client

VERIFY_EMAIL = "verify-email"


@dataclass(frozen=True, kw_only=True)
class Message:
    """`target` is an e-mail address or an E.164 number, `language` a Django language code or ""."""

    kind: str
    target: str
    language: str = ""
    request_id: str = ""


def send(kind: str, target: str, client: Client, *, using: str | None = None) -> None:
    """Hand the job over once the transaction on `using` commits."""
    messenger = plug("messenger")
    if messenger is None:
        return
    message = Message(
        kind=kind, target=target, language=client.language, request_id=client.request_id
    )
    transaction.on_commit(partial(messenger.send, message), using=using)
