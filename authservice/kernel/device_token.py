"""The device token: signed, with the ids of the device and of the account that logged in on it.

It gives no access. A request with a valid device token has its own rate limits, so that other
clients behind the same address cannot use them up.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import timedelta

from django.core.signing import BadSignature

from authservice.kernel import clock, crypto
from authservice.kernel.secret import Secret

TTL = timedelta(days=365)
_PURPOSE = "device"
_MAX_LENGTH = 4096  # a longer one is not ours: browsers do not store it as a cookie


@dataclass(frozen=True, kw_only=True)
class DeviceToken:
    """`version` is the device version of the account, `user` the id of its user, `issued_at` is in
    Unix seconds."""

    device: uuid.UUID
    issued_at: int
    version: int
    user: str

    def signed(self) -> Secret:
        # The time is part of the content, not the timestamp of a `TimestampSigner`: if the version
        # rises, the token is replaced, and the new one keeps the time of the old one.
        values = [self.device.hex, self.issued_at, self.version, self.user]
        return Secret(crypto.signer(_PURPOSE).sign_object(values))


def issue(device: uuid.UUID, *, version: int, user: str) -> Secret:
    """Issue a token for a device that logs in now."""
    now = int(clock.timestamp())
    return DeviceToken(device=device, issued_at=now, version=version, user=user).signed()


def read(token: Secret) -> DeviceToken | None:
    """The content of the token, or None if it is not authentic or has expired."""
    if not token or len(token.reveal()) > _MAX_LENGTH:
        return None
    try:
        values = crypto.signer(_PURPOSE).unsign_object(token.reveal())
    except BadSignature:
        return None
    device, issued_at, version, user = values
    if clock.timestamp() - issued_at >= TTL.total_seconds():
        return None
    return DeviceToken(
        device=uuid.UUID(hex=device), issued_at=issued_at, version=version, user=user
    )
