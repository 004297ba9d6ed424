"""Settings of this module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class Organizations:
    """`AUTHSERVICE["ORGANIZATION"]`."""

    auto_create: bool = False
    """Whether each user who signs up gets an organization of their own. A user who signs up by
    accepting an invitation to an organization does not."""
    auto_create_name: str = "{name}'s organization"
    """Name of such an organization. `{name}` is the user's name, username or the local part of the
    e-mail address, whichever is the first that is known."""
    who_may_create: str = "everyone"
    """Which users may create an organization over the API: `everyone`, `super_admins`, or a dotted
    path to a function of the project that is called with the user and returns whether they may."""
    max_members: int = 0
    """Maximum number of members of an organization; 0 means no limit."""
    max_per_user: int = 0
    """Maximum number of organizations that a user may own to create another one; 0 means no
    limit."""
    invitation_ttl: timedelta = timedelta(days=7)
    """How long an invitation can be accepted after it was sent, or sent again."""
    invitations_kept: timedelta = timedelta(days=90)
    """How long an invitation is listed after it was closed or expired, until the cleanup deletes
    it."""


conf = section("ORGANIZATION", Organizations)
