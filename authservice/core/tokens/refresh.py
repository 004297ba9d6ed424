"""The form of a refresh token: `version | sign-in id | counter | MAC`, base64url.

Nothing of it is stored. The MAC (HMAC-SHA-256) covers the visible part and the random seed of the
sign-in's row, so neither a leaked database nor a leaked key forges one alone.
"""

from __future__ import annotations

import hmac
import struct
from dataclasses import dataclass, field
from uuid import UUID

from authservice.kernel import crypto
from authservice.kernel.secret import Secret

_PURPOSE = "refresh-token"
_VERSION = 1
_BODY = struct.Struct(">B16sI")
_MAC = 32


@dataclass(frozen=True)
class RefreshToken:
    sign_in_id: UUID
    counter: int
    mac: bytes = field(repr=False)

    def genuine(self, seed: str) -> bool:
        """Whether the MAC was made with this row's seed under a key of ours."""
        message = _message(self.sign_in_id, self.counter, seed)
        return any(hmac.compare_digest(made, self.mac) for made in crypto.macs(_PURPOSE, message))


def derive(sign_in_id: UUID, counter: int, seed: str) -> Secret:
    """The refresh token with this number; the same one whenever it is asked for."""
    body = _BODY.pack(_VERSION, sign_in_id.bytes, counter)
    return Secret(crypto.b64(body + crypto.mac(_PURPOSE, _message(sign_in_id, counter, seed))))


def parse(text: Secret) -> RefreshToken:
    """The parts of a token, genuine or not. Raises `crypto.Unreadable`."""
    raw = crypto.unb64(text.reveal())
    if len(raw) != _BODY.size + _MAC or raw[0] != _VERSION:
        raise crypto.Unreadable
    _, sign_in_id, counter = _BODY.unpack_from(raw)
    return RefreshToken(UUID(bytes=sign_in_id), counter, raw[_BODY.size :])


def _message(sign_in_id: UUID, counter: int, seed: str) -> bytes:
    return _BODY.pack(_VERSION, sign_in_id.bytes, counter) + bytes.fromhex(seed)
