"""The rules of the stateless module: the lifetimes of the settings, and any number of sessions.

Fills the slot `login_policy`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from authservice.kernel.client import Client
from authservice.kernel.interfaces import Lifetimes, LiveSession
from authservice.kernel.person import Person
from authservice.kernel.sections import root
from authservice.stateless.conf import conf


class StatelessPolicy:
    """The login policy of the stateless module."""

    ended: Callable[[Sequence[UUID]], None] | None = None

    def checks_every_request(self) -> bool:
        return conf.check == "full"

    def lifetimes(self) -> Lifetimes:
        return Lifetimes(root.refresh_token_ttl, root.session_ttl)

    def begin(self, person: Person, session: LiveSession, client: Client) -> None:
        """Refuses nothing."""

    def alive(self, session: LiveSession) -> bool:
        return True

    def use(self, session: LiveSession) -> bool:
        return True


policy = StatelessPolicy()
