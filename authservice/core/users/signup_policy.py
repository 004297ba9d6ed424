"""Which ways to sign up may create accounts.

`CORE.ALLOW_SIGNUP` turned off closes all of them except invitations: then only an address that a
user invited gets an account. Accounts that staff create are not sign-ups.
"""

from __future__ import annotations

from authservice.core.conf import core

INVITATION = "invitation"


def may_create_account(method: str) -> bool:
    """Whether a new account may be created by this way to sign in, such as "signup", "magic-link",
    "oauth" or `INVITATION`."""
    return core.allow_signup or method == INVITATION
