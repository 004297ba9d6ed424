"""The login gate: requires a second factor after the first, before tokens are issued."""

from __future__ import annotations

from authservice.core.login import login
from authservice.core.users.person import Person
from authservice.kernel.interfaces import MFA, Arrival, Challenge
from authservice.twofactor import authenticators, challenges, remembered_devices
from authservice.twofactor.conf import conf

PROVEN = MFA


def ask(arrival: Arrival) -> Challenge | None:
    """Fills the slot `login_gate`."""
    if PROVEN in arrival.proofs:
        return None
    # A user who has just signed up has no authenticator, which saves a query.
    found = None if arrival.method == login.SIGNUP else authenticators.of(arrival.person)
    if found and found.confirmed:
        if not _always_asked(arrival.person) and remembered_devices.is_remembered(
            found, arrival.person, arrival.client
        ):
            return None
        return challenges.issue(challenges.GIVE_CODE, arrival)
    return challenges.issue(challenges.SET_UP, arrival) if is_required(arrival.person) else None


def _always_asked(person: Person) -> bool:
    """Whether a code is required also on a remembered device: the admin routes require one."""
    return person.is_super_admin and is_required(person)


def is_required(person: Person) -> bool:
    """Whether the settings require a second factor of this user."""
    if conf.required == "super_admins":
        return person.is_super_admin
    return conf.required == "everybody"
