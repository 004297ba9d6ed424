"""Settings of the invitation module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from authservice.kernel.rules import MetadataMax, NotNegative, Positive, Rule, WhoMay
from authservice.kernel.settings import section

PURPOSE_LENGTH = 64
_Purpose = Annotated[
    str,
    Rule(
        f"a text of 1 to {PURPOSE_LENGTH} characters without surrounding white space",
        lambda name: 0 < len(name.strip()) == len(name) <= PURPOSE_LENGTH,
        "Remove it: no request can send it.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class PlatformInvitations:
    """`AUTHSERVICE["INVITATION"]`."""

    ttl: Positive[timedelta] = timedelta(days=7)
    """How long an invitation can be accepted after it was sent, or sent again."""
    who_may_invite: WhoMay = "everyone"
    """Which users may invite: `everyone`, `super_admins`, or a dotted path to a function of the
    project that is called with the user and returns whether they may."""
    allowed_purposes: tuple[_Purpose, ...] = ()
    """The values of `purpose` that are accepted; empty means any."""
    max_pending_per_email: NotNegative[int] = 0
    """Maximum number of pending invitations for one address, of all senders together; 0 means
    unlimited."""
    metadata_max: MetadataMax = 2048
    """Maximum length of `metadata` in characters."""
    kept: NotNegative[timedelta] = timedelta(days=90)
    """How long an invitation is listed after it was closed or expired, until the cleanup deletes
    it."""


conf = section("INVITATION", PlatformInvitations)
