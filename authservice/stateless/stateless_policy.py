"""The rules of the stateless module: the lifetimes of the settings, and any number of sessions.

Fills the slot `login_policy`.
"""

from __future__ import annotations

from authservice.core.sessions import sessions
from authservice.kernel import clock
from authservice.kernel.databases import after_commit
from authservice.kernel.interfaces import LiveSession, LoginPolicy
from authservice.stateless.conf import conf


class StatelessPolicy(LoginPolicy):
    """The login policy of the stateless module."""

    def checks_every_request(self) -> bool:
        return conf.check == "full"

    def use_without_token(self, session: LiveSession) -> bool:
        """For a session that Django's session carries: no refresh moves its idle timeout, so this
        does."""
        now = clock.now()
        if now >= min(session.idle_expires_at, session.expires_at):
            return False
        idle = sessions.idle_to_renew(session)
        if idle is None:
            return True

        def touch() -> None:
            sessions.touch(session, now=now, until=now + idle)

        # After commit: a view of the host project may be one transaction, which would otherwise
        # hold the lock on the row until its end.
        after_commit(touch)
        return True


policy = StatelessPolicy()
