"""The format of a refresh token: `version | session id | counter | MAC`, base64url.

No part of the token is stored. The MAC (HMAC-SHA-256) covers the other parts and the random seed
in the row of the session. An attacker therefore cannot forge a token with a leaked database alone,
nor with a leaked key alone.
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
# The version, the session id and the counter.
_BODY = struct.Struct(">B16sI")
_MAC = 32  # bytes


@dataclass(frozen=True)
class RefreshToken:
    session_id: UUID
    counter: int
    mac: bytes = field(repr=False)

    def genuine(self, seed: str) -> bool:
        """Whether the MAC is valid for the seed in the row of the session, under the current key or
        a fallback."""
        message = _message(self.session_id, self.counter, seed)
        return any(hmac.compare_digest(made, self.mac) for made in crypto.macs(_PURPOSE, message))


def derive(session_id: UUID, counter: int, seed: str) -> Secret:
    """The refresh token of the session with this counter. It can be derived again while the keys
    are the same."""
    body = _BODY.pack(_VERSION, session_id.bytes, counter)
    return Secret(crypto.b64(body + crypto.mac(_PURPOSE, _message(session_id, counter, seed))))


def parse(text: Secret) -> RefreshToken:
    """The parts of a token; the MAC is not verified. Raises `crypto.Unreadable`."""
    raw = crypto.unb64(text.reveal())
    if len(raw) != _BODY.size + _MAC or raw[0] != _VERSION:
        raise crypto.Unreadable
    _, session_id, counter = _BODY.unpack_from(raw)
    return RefreshToken(UUID(bytes=session_id), counter, raw[_BODY.size :])


def _message(session_id: UUID, counter: int, seed: str) -> bytes:
    return _BODY.pack(_VERSION, session_id.bytes, counter) + bytes.fromhex(seed)
