"""Access tokens: issue and read them, with the claims of RFC 9068."""

from __future__ import annotations

import secrets
from typing import Any

from django.utils.module_loading import import_string

from authservice.core.conf import core
from authservice.core.models import Session
from authservice.core.tokens.signing_keys import ring
from authservice.core.users.person import Person
from authservice.kernel import clock, errors, levels
from authservice.kernel.interfaces import SessionData
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret
from authservice.kernel.sections import root

TYPE = "access"


def issue(person: Person, session: Session) -> tuple[Secret, int]:
    """A new access token of the session, and its lifetime in seconds."""
    seconds = _lifetime(session)
    issued_at = int(clock.timestamp())

    additional: dict[str, Any] = {}
    if core.claims_hook:
        additional.update(import_string(core.claims_hook)(person.user))
    for data in plugs(SessionData):
        additional.update(data.claims(person, session))

    claims = {
        **additional,
        "sub": person.id,
        "jti": secrets.token_hex(16),
        "iat": issued_at,
        "exp": issued_at + seconds,
        "typ": TYPE,
        "ver": person.token_version,
        "sid": str(session.pk),
        "amr": session.amr.split(),
        "auth_time": int(session.auth_time.timestamp()),
    }
    if (level := levels.of(session.amr.split())) is not None:
        claims["acr"] = level
    return Secret(ring().encode(claims)), seconds


def read(token: Secret) -> dict[str, Any]:
    """The claims of an access token with a valid signature. Raises `InvalidToken` or
    `TokenExpired`."""
    claims = ring().read(token.reveal())
    if claims["typ"] != TYPE:
        raise errors.InvalidToken
    return claims


def is_ours(token: Secret) -> bool:
    """Whether the token says that this service issued it. A token of another issuer is left to
    the other authentication of the project. A token that names this service is refused if it is
    not valid."""
    return ring().names_us(token.reveal())


def _lifetime(session: Session) -> int:
    # An access token never expires later than its session.
    remaining = session.expires_at - clock.now()
    return max(1, int(min(root.access_token_ttl, remaining).total_seconds()))
