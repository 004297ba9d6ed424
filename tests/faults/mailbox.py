"""The mailbox of all clients: a real mail server, and the reset links it receives."""

from __future__ import annotations

import re
import time
from email import message_from_bytes, policy

from tests.notification.servers import Sink

_PATIENCE = 3  # seconds; during a fault a mail may not be sent at all
_TOKEN = re.compile(r"reset\S*[?&]token=([\w.~-]+)")


class Mailbox(Sink):
    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self._read: dict[str, int] = {}

    def addresses(self) -> set[str]:
        """Everybody who has received a mail."""
        return {address for mail in self.recipients for address in mail}

    def reset_token(self, address: str) -> str:
        """The token of the next reset link for `address`; empty if none is received."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            for number in range(self._read.get(address, 0), len(self.recipients)):
                self._read[address] = number + 1
                if address in self.recipients[number] and (token := _token(self.raw[number])):
                    return token
            time.sleep(0.02)
        return ""


def _token(raw: bytes) -> str:
    text = message_from_bytes(raw, policy=policy.default).get_body(("plain",))
    found = _TOKEN.search(text.get_content()) if text else None
    return found[1] if found else ""
