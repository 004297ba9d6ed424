"""Authenticates a bearer token: by its signature, then by one query for its session."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from django.utils.functional import cached_property

from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.sessions.sessions import Used, policy
from authservice.core.tokens import signing
from authservice.core.users.person import Person, refresh_copies
from authservice.kernel import clock, errors, events
from authservice.kernel.client import Client
from authservice.kernel.interfaces import SecondFactor
from authservice.kernel.levels import Record
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret

# Seconds for which the routes that a page calls may share its reading of the user.
_MOMENT = 1


@dataclass
class Caller:
    """The user who sent a request, and the session that the claims of the token name."""

    claims: Mapping[str, Any]
    session_id: uuid.UUID
    # One time for all checks of this caller, which a view of the host project may start at any
    # moment of the request.
    reading: clock.Reading = field(default_factory=clock.reading)
    # False if Django's session carries the claims. Then no token expires, and the expiry of the
    # session itself is checked.
    has_token: bool = True
    _shared: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    _shared_until: float = field(default=0, init=False, repr=False)

    @cached_property
    def _person_and_session(self) -> tuple[Person, Used]:
        person_and_session = sessions.find_for_request(self.session_id)
        if person_and_session is None or person_and_session[0].id != self.claims["sub"]:
            raise errors.InvalidToken
        return person_and_session

    @cached_property
    def person(self) -> Person:
        return self._person_and_session[0]

    @property
    def record(self) -> Record:
        """The levels that the session has proven, as the database has them now."""
        return Record(self._person_and_session[1].levels)

    @cached_property
    def session(self) -> Session:
        return sessions.as_model(self._person_and_session[1])

    @property
    def organization_id(self) -> str | None:
        """The active organization: that of the token or, without one, that of the row. Concurrent
        requests save Django's session, and the last one may bring old claims back."""
        if not self.has_token:
            active = self._person_and_session[1].organization_id
            return None if active is None else str(active)
        claimed = self.claims.get("org_id")
        return claimed if isinstance(claimed, str) and claimed else None

    @cached_property
    def _live(self) -> bool:
        person, used = self._person_and_session
        with clock.unit(self.reading):
            live = (
                self.claims["ver"] == person.token_version
                and sessions.is_valid(person, used)
                and (policy().use if self.has_token else policy().use_without_token)(used)
            )
        if live:
            refresh_copies(person)
        return live

    def share(self) -> None:
        """Let `again` reuse the rows of this caller for `_MOMENT` seconds. Not longer: rights that
        are withdrawn while a page waits must not be used after that."""
        person, used = self._person_and_session
        live = self._live  # first: it may update the copies of `person`, and then nothing is shared
        if (copied := person.copied()) is not None:
            self._shared = {"_person_and_session": (copied, used), "_live": live}
            self._shared_until = monotonic() + _MOMENT

    def stop_sharing(self) -> None:
        """Make `again` read the rows again: they may have changed."""
        self._shared = {}

    def again(self, *, shared: bool = False) -> Caller:
        """This caller for another part of the request. It reads the rows again, unless it may have
        what this one shares."""
        caller = Caller(self.claims, self.session_id, has_token=self.has_token)
        if shared and self._shared and monotonic() < self._shared_until:
            person, used = self._shared["_person_and_session"]
            # A copy of its own: a change that is refused later must not be seen elsewhere.
            caller.__dict__.update(self._shared, _person_and_session=(person.copied(), used))
        return caller

    def require_live(self) -> None:
        """Raises `InvalidToken` unless the session is valid, or the errors of the login policy."""
        if not self._live:
            raise errors.InvalidToken

    def require_super_admin(self, client: Client) -> None:
        """Raises `InvalidToken` (checked against the database, whatever `STATELESS.CHECK` says),
        `Forbidden`, which is recorded, or `ReauthenticationRequired` if a second factor is required
        and this session has none."""
        self.require_live()
        if not self.person.is_super_admin:
            events.record("security.forbidden", self.person, client)
            raise errors.Forbidden
        # A login normally asks for a required second factor. It did not ask a user who became a
        # super admin while signed in, or who signed in before the setting was turned on.
        if self.record.last("aal2") is None and any(
            factor.is_required(self.person) for factor in plugs(SecondFactor)
        ):
            raise errors.ReauthenticationRequired


@clock.once
def identify(token: Secret) -> Caller:
    """The caller with this access token.

    Raises `InvalidToken`, `TokenExpired`, or the errors of the login policy.
    """
    claims = signing.read_access_token(token)
    try:
        caller = Caller(claims, uuid.UUID(claims["sid"]))
    except (ValueError, AttributeError, TypeError) as error:
        raise errors.InvalidToken from error
    if policy().checks_every_request():
        caller.require_live()
    return caller
