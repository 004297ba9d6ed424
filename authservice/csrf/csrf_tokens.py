"""CSRF tokens: a nonce and the session id, signed with the time of issue.

The signature distinguishes our cookie from one that another host has set. The session id makes a
token that an attacker fetched for their own session useless for the session of another user. Tokens
are not stored.
"""

from __future__ import annotations

import secrets
from uuid import UUID

from django.core.signing import BadSignature, SignatureExpired

from authservice.csrf.conf import conf
from authservice.kernel import crypto

_PURPOSE = "csrf"
_NONCE = 16
_LONGEST = 256
_FOREIGN = "the token was not issued by this service"


def issue(session_id: UUID | None = None) -> str:
    """A new token: for the session that the token cookies identify, or for none."""
    value = f"{secrets.token_hex(_NONCE)}.{_hex(session_id)}"
    return crypto.timestamp_signer(_PURPOSE).sign(value)


def fault_of(token: str, session_id: UUID | None = None) -> str:
    """Why a token is refused: it is not authentic, has expired or, if a session is given, was not
    issued for it. "" if it is valid."""
    if len(token) > _LONGEST:
        return _FOREIGN
    try:
        value = crypto.timestamp_signer(_PURPOSE).unsign(token, max_age=conf.ttl)
    except SignatureExpired:
        return "the token is older than CSRF.TTL"
    except BadSignature:
        return _FOREIGN
    owner = value.partition(".")[2]
    if session_id is not None and owner != _hex(session_id):
        return "the token was issued for another session; fetch one after signing in or out"
    return ""


def _hex(session_id: UUID | None) -> str:
    return session_id.hex if session_id else ""
