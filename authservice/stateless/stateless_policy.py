"""The rules of the stateless module: the lifetimes of the settings, and any number of sessions.

Fills the slot `login_policy`.
"""

from __future__ import annotations

from authservice.kernel.interfaces import LoginPolicy
from authservice.stateless.conf import conf


class StatelessPolicy(LoginPolicy):
    """The login policy of the stateless module."""

    def checks_every_request(self) -> bool:
        return conf.check == "full"


policy = StatelessPolicy()
