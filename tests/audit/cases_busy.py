"""Requests that get no slot to hash a password are refused, and nothing is recorded."""

from __future__ import annotations

from tests.audit.world import case
from tests.support.client import PASSWORD
from tests.support.flows import NEW, OTHER_PHONE

BUSY = "SERVICE_UNAVAILABLE"


@case("POST /signup", code=BUSY)
def signup_while_hash_slots_are_taken(world):
    world.occupy_hash_slots()
    return lambda: world.api.post("signup", email="cam@example.com", password=PASSWORD)


@case("POST /login", code=BUSY)
def login_while_hash_slots_are_taken(world):
    world.occupy_hash_slots()
    return world.log_in


@case("POST /reset-password", code=BUSY)
def password_reset_while_hash_slots_are_taken(world):
    token = world.flows.reset_token()
    world.occupy_hash_slots()
    return lambda: world.flows.reset(token)


@case("PUT /change-password", code=BUSY)
def password_change_while_hash_slots_are_taken(world):
    world.occupy_hash_slots()
    body = {"old_password": PASSWORD, "new_password": NEW}
    return lambda: world.as_ann("PUT", "change-password", **body)


@case("PUT /profile", code=BUSY)
def phone_change_with_password_while_hash_slots_are_taken(world):
    world.occupy_hash_slots()
    return lambda: world.as_ann("PUT", "profile", phone=OTHER_PHONE, password=PASSWORD)


@case("POST /2fa/setup", code=BUSY)
def totp_setup_with_password_while_hash_slots_are_taken(world):
    world.occupy_hash_slots()
    return lambda: world.as_ann("POST", "2fa/setup", password=PASSWORD)
