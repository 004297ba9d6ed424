"""The login policy: lifetimes and limits of sessions, as the login module sets them."""

from __future__ import annotations

from typing import cast

from authservice.kernel.interfaces import LoginPolicy
from authservice.kernel.modules import plug


def policy() -> LoginPolicy:
    """The policy of the installed login module; the default login module is the stateless one."""
    return cast(LoginPolicy, plug(LoginPolicy))
