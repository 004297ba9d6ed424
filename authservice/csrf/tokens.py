"""CSRF tokens: a nonce, the time of issue in Unix seconds and the session id, with a MAC.

The MAC distinguishes our cookie from one that another host planted. The session id makes a token
that an attacker fetched for their own session useless for the session of another user. Tokens are
not stored.
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


def issue(session_id: UUID | None = None) -> str:
    """A new token: for the session that the token cookies identify, or for none."""
    parts = secrets.token_hex(_NONCE), str(int(time.time())), _hex(session_id)
    return crypto.sign(_PURPOSE, ".".join(parts))


def is_valid(token: str, session_id: UUID | None = None) -> bool:
    """Whether a token is authentic, not expired and, if a session is given, issued for it."""
    if len(token) > _LONGEST:
        return False
    try:
        _, issued_at, owner = crypto.unsign(_PURPOSE, token).split(".")
    except crypto.Unreadable:
        return False
    fresh = time.time() - int(issued_at) < conf.ttl.total_seconds()
    return fresh and (session_id is None or owner == _hex(session_id))


def _hex(session_id: UUID | None) -> str:
    return session_id.hex if session_id else ""
