"""The client of a request, for code outside the HTTP layer, and the token that names its device."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar

from django.core.signing import BadSignature
from django.utils.functional import cached_property

from authservice.kernel import clock, secret
from authservice.kernel.secret import Secret

_DEVICE = "device"  # the purpose of the signature of device tokens
_MAX_LENGTH = 4096  # a longer token is not ours: browsers do not store it as a cookie


@dataclass(frozen=True, kw_only=True)
class Client:
    """What code outside the HTTP layer may know about the client of a request.

    `address` is the client's IP address or "". `network` is the key of the flood limits: the IPv4
    address, or the /64 of an IPv6 address. `http` is the request itself, only to be passed on to
    third-party authentication backends and Django's own signals.

    `device` is the content of `device_token`, or None if that is not authentic.
    """

    address: str = ""
    network: str = ""
    user_agent: str = ""
    request_id: str = ""
    device_token: Secret = field(default_factory=lambda: Secret(""))
    language: str = ""
    http: Any = None

    @cached_property
    def device(self) -> DeviceToken | None:
        return DeviceToken.read(self.device_token) if self.device_token else None


@dataclass(frozen=True, kw_only=True)
class DeviceToken:
    """The device token: signed, with the ids of the device and of the account that logged in on it.

    It gives no access. A request with a valid device token has its own rate limits, so that other
    clients behind the same address cannot use them up.

    `version` is the `device_version` of the account, which rises when device tokens are revoked,
    `user` the id of its user, `issued_at` is in Unix seconds.
    """

    TTL: ClassVar = timedelta(days=365)

    device: uuid.UUID
    issued_at: int
    version: int
    user: str

    @classmethod
    def issue(cls, device: uuid.UUID, *, version: int, user: str) -> Secret:
        """Issue a token for a device that logs in now."""
        now = int(clock.timestamp())
        return cls(device=device, issued_at=now, version=version, user=user).signed()

    @classmethod
    def read(cls, token: Secret) -> DeviceToken | None:
        """The content of the token, or None if it is not authentic or has expired."""
        text = token.reveal()
        if len(text) > _MAX_LENGTH:
            return None
        try:
            values = secret.signer(_DEVICE).unsign_object(text)
        except BadSignature:
            return None
        device, issued_at, version, user = values
        if clock.timestamp() - issued_at >= cls.TTL.total_seconds():
            return None
        return cls(device=uuid.UUID(hex=device), issued_at=issued_at, version=version, user=user)

    def signed(self) -> Secret:
        # The time is part of the content, not the timestamp of a `TimestampSigner`: if the version
        # rises, the token is replaced, and the new one keeps the time of the old one.
        values = [self.device.hex, self.issued_at, self.version, self.user]
        return Secret(secret.signer(_DEVICE).sign_object(values))
