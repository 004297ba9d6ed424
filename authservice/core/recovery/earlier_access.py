"""Access from before the first proof of an address, where the proof does not remove it.

A verification link does not remove what was set up before: usually its reader has signed up and
only opens the mail in another browser. But an attacker may have signed up with the address of the
reader, and planted a phone number, a linked provider or a second factor that no reset of a proven
account removes. So unless the browser or a session of the sign-up proves the address, number and
providers count as added at the proof, and the owner of the mailbox gets a link that removes all.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from authservice.core.messages import kinds, security_notice
from authservice.core.models import Account, PhoneSource
from authservice.core.recovery import phone_numbers
from authservice.core.users.person import Person
from authservice.kernel import clock, transactions
from authservice.kernel.client import Client
from authservice.kernel.interfaces import AccountAccess, SecondFactor
from authservice.kernel.modules import plugs

# The link removes all such access, whenever it was added.
_ALWAYS = datetime.fromtimestamp(0, UTC)


@transactions.inside
def distrust(person: Person, client: Client) -> None:
    """Remove the privilege of a number given at sign-up, and notify the owner of the mailbox.

    Call it after the proof was stored and the user's row locked.
    """
    number = _demote_number(person)
    linked = [access.distrust(person) for access in plugs(AccountAccess)]
    factor = any(factor.is_enabled(person) for factor in plugs(SecondFactor))
    if number or any(linked) or factor:
        before = {**security_notice.state_of(person, since=_ALWAYS), **phone_numbers.NO_NUMBER}
        security_notice.notify(kinds.EMAIL_CONFIRMED, person, client, before)


def _demote_number(person: Person) -> bool:
    """Whether there is a number that staff did not set; it now counts as added by a session."""
    account = person.account
    # A number that staff set resets no password anyway, until a user with the password confirms it.
    if not account.phone_number or account.phone_set_by == PhoneSource.STAFF:
        return False
    now = clock.now()
    fields: dict[str, Any] = {
        "phone_set_by": PhoneSource.SESSION,
        "phone_added_at": now,
        "phone_verified_at": now if person.phone_number_verified else None,
    }
    Account.objects.filter(pk=person.user.pk).update(**fields)
    for name, value in fields.items():
        setattr(account, name, value)
    return True
