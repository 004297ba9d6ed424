"""CSRF tokens: a nonce, the second it was made in, and for which sign-in, under a MAC.

Signed, so that a cookie which another host planted is told from one of ours; for a sign-in, so that
a token which somebody fetched for himself opens nothing of somebody else's. Nothing is stored.
"""

from __future__ import annotations

import secrets
import time
from uuid import UUID

from authservice.csrf.conf import conf
from authservice.kernel import crypto

_PURPOSE = "csrf"
_NONCE = 16
_LONGEST = 256


def mint(sign_in_id: UUID | None = None) -> str:
    """A fresh token: for anybody, or for the sign-in that a cookie of ours speaks for."""
    parts = secrets.token_hex(_NONCE), str(int(time.time())), _name(sign_in_id)
    return crypto.sign(_PURPOSE, ".".join(parts))


def holds(token: str, sign_in_id: UUID | None = None) -> bool:
    """Whether a token is ours, still fresh and, where a sign-in is named, made for it."""
    if len(token) > _LONGEST:
        return False
    try:
        _, made_at, owner = crypto.unsign(_PURPOSE, token).split(".")
    except crypto.Unreadable:
        return False
    fresh = time.time() - int(made_at) < conf.ttl.total_seconds()
    return fresh and (sign_in_id is None or owner == _name(sign_in_id))


def _name(sign_in_id: UUID | None) -> str:
    return sign_in_id.hex if sign_in_id else ""
