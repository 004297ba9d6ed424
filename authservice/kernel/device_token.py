"""The device token: signed, with the ids of the device and of the account that logged in on it.

It gives no access. A request with a valid device token has its own rate limits, so that other
clients behind the same address cannot use them up.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from datetime import timedelta

from authservice.kernel import crypto
from authservice.kernel.secret import Secret

TTL = timedelta(days=365)
_PURPOSE = "device"


@dataclass(frozen=True, kw_only=True)
class DeviceToken:
    """`version` is the device version of the account, `user` the id of its user, `issued_at` is in
    Unix seconds."""

    device: uuid.UUID
    issued_at: int
    version: int
    user: str

    def signed(self) -> Secret:
        parts = [self.device.hex, str(self.issued_at), str(self.version), self.user]
        return Secret(crypto.sign(_PURPOSE, ":".join(parts)))


def issue(device: uuid.UUID, *, version: int, user: str) -> Secret:
    """Issue a token for a device that logs in now."""
    now = int(time.time())
    return DeviceToken(device=device, issued_at=now, version=version, user=user).signed()


def read(token: Secret) -> DeviceToken | None:
    """The content of the token, or None if it is not authentic or has expired."""
    if not token:
        return None
    try:
        device, issued_at, version, user = crypto.unsign(_PURPOSE, token.reveal()).split(":", 3)
        found = DeviceToken(
            device=uuid.UUID(hex=device),
            issued_at=int(issued_at),
            version=int(version),
            user=user,
        )
    except ValueError:
        return None
    return found if time.time() - found.issued_at < TTL.total_seconds() else None
