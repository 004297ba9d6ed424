"""Send messages as SMS, with the sender that the host chose."""

from __future__ import annotations

from authservice.core.messages.compose import OutgoingMessage
from authservice.notification.rendering import context_of, render
from authservice.notification.senders import sender


def send(letter: OutgoingMessage) -> None:
    sender()(letter.to, render(letter, "sms.txt", context_of(letter)).strip())
