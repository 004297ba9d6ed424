"""The login policy: lifetimes and limits of sessions, by the login module or by core's default."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast
from uuid import UUID

from authservice.core.conf import stateless
from authservice.kernel.client import Client
from authservice.kernel.interfaces import Lifetimes, LoginPolicy
from authservice.kernel.modules import plug
from authservice.kernel.sections import root


class Stateless:
    """Core's own policy: lifetimes of the settings, and any number of sessions."""

    ended: Callable[[Sequence[UUID]], None] | None = None

    def checks_every_request(self) -> bool:
        return stateless.check == "full"

    def lifetimes(self) -> Lifetimes:
        return Lifetimes(root.refresh_token_ttl, root.session_ttl)

    def begin(self, person: Any, session: Any, client: Client, *, held: bool) -> None:
        """Refuses nothing."""

    def alive(self, session: Any) -> bool:
        return True

    def use(self, session: Any) -> bool:
        return True


_DEFAULT = Stateless()


def policy() -> LoginPolicy:
    """The policy of the installed login module, or core's own."""
    return cast(LoginPolicy, plug("login_policy") or _DEFAULT)
