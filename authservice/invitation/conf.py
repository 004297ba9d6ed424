"""Settings of the invitation module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class PlatformInvitations:
    """`AUTHSERVICE["INVITATION"]`."""

    ttl: timedelta = timedelta(days=7)
    """How long an invitation can be accepted after it was sent, or sent again."""
    who_may_invite: str = "everyone"
    """Which users may invite: `everyone`, `super_admins`, or a dotted path to a function of the
    project that is called with the user and returns whether they may."""
    allowed_purposes: tuple[str, ...] = ()
    """The values of `purpose` that are accepted; empty means any."""
    max_pending_per_email: int = 0
    """Maximum number of pending invitations for one address, of all senders together; 0 means
    unlimited."""
    kept: timedelta = timedelta(days=90)
    """How long an invitation is listed after it was closed or expired, until the cleanup deletes
    it."""


conf = section("INVITATION", PlatformInvitations)
