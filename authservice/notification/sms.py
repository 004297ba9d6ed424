"""Send messages as SMS, with the sender that the host chose."""

from __future__ import annotations

from authservice.core.messages.compose import OutgoingMessage
from authservice.notification.rendering import context_of, opening, render
from authservice.notification.senders import sender


def send(outgoing: OutgoingMessage) -> None:
    sender()(outgoing.to, opening(render(outgoing, "sms.txt", context_of(outgoing)).strip()))
