"""Which phone numbers may reset a password.

A verified number gives access to the account. An attacker with a stolen session must not be able to
add one. So a number may reset the password only if it was set with more proof than a session, or
after the owner of the account had three days to notice it.
"""

from __future__ import annotations

from datetime import timedelta

from authservice.core.models import PhoneSource
from authservice.core.users.person import Person
from authservice.kernel import clock

WAIT = timedelta(hours=72)
_AT_ONCE = (PhoneSource.SIGNUP, PhoneSource.PASSWORD, PhoneSource.CONFIRMED)


def may_reset_password(person: Person) -> bool:
    """Whether a code texted to the current number may set a new password now."""
    if not person.phone_number_verified:
        return False
    account = person.account
    if account.phone_set_by in _AT_ONCE:
        return True
    verified_at = account.phone_verified_at
    waited = verified_at is not None and verified_at <= clock.now() - WAIT
    # A number that staff set resets no password until the user confirms it (`CONFIRMED`).
    return account.phone_set_by == PhoneSource.SESSION and waited


def added_recently(person: Person) -> bool:
    """Whether the current number was added in the last 72 hours.

    A number given at sign-up does not count. A number from before the first proof of the address
    counts as added at that proof: until then an attacker could have added it.
    """
    account = person.account
    if not account.phone_number or account.phone_set_by == PhoneSource.SIGNUP:
        return False
    moments = filter(None, (account.phone_added_at, account.email_proven_at))
    latest = max(moments, default=None)
    return latest is not None and latest > clock.now() - WAIT
