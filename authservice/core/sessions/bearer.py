"""Authenticates a bearer token: by its signature, then by one query for its session."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import cached_property

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.sessions.login_policy import policy
from authservice.core.sessions.sessions import Used
from authservice.core.tokens import access_tokens
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import clock, errors, events
from authservice.kernel.client import Client
from authservice.kernel.interfaces import MFA, SecondFactor
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret


@dataclass
class Caller:
    """The user who sent a request, and the session of the token."""

    claims: Mapping[str, Any]
    session_id: uuid.UUID
    # A view of the host project asks several questions about the caller of one request.
    reading: clock.Reading = field(default_factory=clock.reading)
    # False if Django's session carries the claims: no token expires, so the session itself does.
    has_token: bool = True

    @cached_property
    def _found(self) -> tuple[Person, Used]:
        found = sessions.find_for_request(self.session_id)
        if found is None or found[0].id != self.claims["sub"]:
            raise errors.InvalidToken
        return found

    @property
    def person(self) -> Person:
        return self._found[0]

    @cached_property
    def session(self) -> Session:
        return sessions.as_model(self._found[1])

    @cached_property
    def _live(self) -> bool:
        person, used = self._found
        with clock.unit(self.reading):
            return (
                self.claims["ver"] == person.token_version
                and sessions.is_valid(person, used)
                and (policy().use if self.has_token else policy().use_without_token)(used)
            )

    def require_live(self) -> None:
        """Raises `InvalidToken` unless the session is valid, or the errors of the login policy."""
        if not self._live:
            raise errors.InvalidToken
        lookup.refresh_copies(self.person)

    def require_super_admin(self, client: Client) -> None:
        """Raises `InvalidToken` (checked against the database, whatever `STATELESS.CHECK` says),
        `Forbidden`, which is recorded, or `ReauthenticationRequired` if a second factor is required
        and this session has none."""
        self.require_live()
        if not self.person.is_super_admin:
            events.record("security.forbidden", self.person, client)
            raise errors.Forbidden
        # A required second factor is normally demanded at login. A user who became a super admin
        # while signed in, or signed in before the setting was turned on, was not asked for it.
        if MFA not in self.claims["amr"] and any(
            factor.is_required(self.person) for factor in plugs(SecondFactor)
        ):
            raise errors.ReauthenticationRequired


@clock.once
def identify(token: Secret) -> Caller:
    """The caller with this access token.

    Raises `InvalidToken`, `TokenExpired`, or the errors of the login policy.
    """
    claims = access_tokens.read(token)
    try:
        caller = Caller(claims, uuid.UUID(claims["sid"]))
    except (ValueError, AttributeError, TypeError) as wrong:
        raise errors.InvalidToken from wrong
    if policy().checks_every_request():
        caller.require_live()
    return caller
