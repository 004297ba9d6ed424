"""CSRF tokens: a nonce and the session id, signed with the time of issue.

The signature distinguishes our cookie from one that another host has set. The session id makes a
token that an attacker fetched for their own session useless for the session of another user. Tokens
are not stored.
"""

from __future__ import annotations

import secrets
from uuid import UUID

from django.core.signing import BadSignature

from authservice.csrf.conf import conf
from authservice.kernel import crypto

_PURPOSE = "csrf"
_NONCE = 16
_LONGEST = 256


def issue(session_id: UUID | None = None) -> str:
    """A new token: for the session that the token cookies identify, or for none."""
    value = f"{secrets.token_hex(_NONCE)}.{_hex(session_id)}"
    return crypto.timestamp_signer(_PURPOSE).sign(value)


def is_valid(token: str, session_id: UUID | None = None) -> bool:
    """Whether a token is authentic, not expired and, if a session is given, issued for it."""
    if len(token) > _LONGEST:
        return False
    try:
        value = crypto.timestamp_signer(_PURPOSE).unsign(token, max_age=conf.ttl)
    except BadSignature:
        return False
    owner = value.partition(".")[2]
    return session_id is None or owner == _hex(session_id)


def _hex(session_id: UUID | None) -> str:
    return session_id.hex if session_id else ""
