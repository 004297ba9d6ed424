"""Users of the services, and their tokens."""

from __future__ import annotations

import secrets
import time
from pathlib import Path

from tests.support import forging

PASSWORD = "plum tart 42 windows"


def address() -> str:
    return f"{secrets.token_hex(6)}@example.com"


def expired(access_token: str) -> str:
    """The same token, signed by the service with a time in the past."""
    return forging.changed(access_token, body={"exp": 1})


def mailed_link(mailbox: Path, to: str) -> str:
    """The first link in the newest mail to an address, once it has arrived."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for mail in sorted(mailbox.glob("*.eml"), reverse=True):
            text = mail.read_text()
            if to in text and "/magic-link/verify?" in text:
                return next(word for word in text.split() if "/magic-link/verify?" in word)
        time.sleep(0.05)
    raise AssertionError(f"no link was mailed to {to}")
