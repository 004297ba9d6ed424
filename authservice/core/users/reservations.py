"""Former addresses of accounts: for 72 hours no other account may have one.

The former address of a changed account gets a link that restores it. If an intruder changed the
address and then signed up with the former one, the link could not restore it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet

from authservice.core.models import AddressReservation
from authservice.core.users.person import Person
from authservice.kernel import clock

KEPT = timedelta(hours=72)  # as long as the link of a security notice


@clock.once
def reserve(person: Person, email_key: str) -> None:
    """Reserve an address, by its key, for the account that has just left it; no address for ""."""
    if not email_key:
        return
    AddressReservation.objects.create(
        user_id=person.user.pk, email_key=email_key, expires_at=clock.now() + KEPT
    )


def holders(email_key: str) -> QuerySet[AddressReservation, Any]:
    """Primary keys of the users for whom the address is reserved."""
    rows = AddressReservation.objects.filter(email_key=email_key, expires_at__gt=clock.now())
    return rows.values_list("user", flat=True)


def has(person: Person, email_key: str) -> bool:
    """Whether the address is reserved for this account."""
    return holders(email_key).filter(user=person.user.pk).exists()
