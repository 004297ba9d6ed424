"""What stands between a proof and the tokens of somebody with a second factor."""

from __future__ import annotations

from authservice.core import login
from authservice.core.people import Person
from authservice.kernel.ports import Arrival, Challenge
from authservice.twofactor import authenticators, challenges, remembering
from authservice.twofactor.conf import conf

PROVEN = "mfa"  # of RFC 8176: more than one factor was judged


def ask(arrival: Arrival) -> Challenge | None:
    """Fills the slot `login_gate`."""
    if PROVEN in arrival.proofs:
        return None
    # Somebody who was made a moment ago has none.
    found = None if arrival.method == login.SIGNUP else authenticators.of(arrival.person)
    if found and found.confirmed:
        if remembering.holds(found, arrival.person, arrival.client):
            return None
        return challenges.pose(challenges.GIVE_CODE, arrival)
    return challenges.pose(challenges.SET_UP, arrival) if _must(arrival.person) else None


def _must(person: Person) -> bool:
    if conf.required == "super_admins":
        return person.is_super_admin
    return conf.required == "everybody"
