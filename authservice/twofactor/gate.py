"""The login gate: requires a second factor after the first, before tokens are issued."""

from __future__ import annotations

from authservice.core.login import login
from authservice.core.users.person import Person
from authservice.kernel.interfaces import MFA, Arrival, Challenge
from authservice.twofactor import authenticators, challenges, remembered_devices
from authservice.twofactor.conf import conf

PROVEN = MFA
_CONFIRMED = "authservice_authenticator__confirmed"


def columns() -> tuple[str, ...]:
    """Fills the slot `gate_columns`."""
    return (_CONFIRMED,)


def ask(arrival: Arrival) -> Challenge | None:
    """Fills the slot `login_gate`."""
    if PROVEN in arrival.proofs:
        return None
    found = None if _has_no_factor(arrival) else authenticators.of(arrival.person)
    if found and found.confirmed:
        if not _always_asked(arrival.person) and remembered_devices.is_remembered(
            found, arrival.person, arrival.client
        ):
            return None
        return challenges.issue(challenges.GIVE_CODE, arrival)
    return challenges.issue(challenges.SET_UP, arrival) if is_required(arrival.person) else None


def _has_no_factor(arrival: Arrival) -> bool:
    """Whether it is known without a query that the user has no second factor.

    A factor that is enabled after the user was read, such as while the password is checked, raises
    `factor_version`. The session of this login stores the version that was read in the same
    statement, and is therefore not valid.
    """
    if arrival.method == login.SIGNUP:
        return True
    return not arrival.person.gate_values.get(_CONFIRMED, True)


def _always_asked(person: Person) -> bool:
    """Whether a code is required also on a remembered device: the admin routes require one."""
    return person.is_super_admin and is_required(person)


def is_required(person: Person) -> bool:
    """Whether the settings require a second factor of this user."""
    if conf.required == "super_admins":
        return person.is_super_admin
    return conf.required == "everybody"
