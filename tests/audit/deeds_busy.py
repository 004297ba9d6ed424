"""Requests that get no slot to hash a password: refused, and nothing is recorded."""

from __future__ import annotations

from tests.audit.world import deed
from tests.client import PASSWORD
from tests.recovery.flows import NEW, OTHER_PHONE

BUSY = "SERVICE_UNAVAILABLE"


@deed("POST /signup", code=BUSY)
def signing_up_while_too_many_hash(world):
    world.hash_elsewhere()
    return lambda: world.api.post("signup", email="cam@example.com", password=PASSWORD)


@deed("POST /login", code=BUSY)
def logging_in_while_too_many_hash(world):
    world.hash_elsewhere()
    return world.log_in


@deed("POST /reset-password", code=BUSY)
def resetting_while_too_many_hash(world):
    token = world.flows.reset_token()
    world.hash_elsewhere()
    return lambda: world.flows.reset(token)


@deed("PUT /change-password", code=BUSY)
def changing_a_password_while_too_many_hash(world):
    world.hash_elsewhere()
    body = {"old_password": PASSWORD, "new_password": NEW}
    return lambda: world.as_ann("PUT", "change-password", **body)


@deed("PUT /profile", code=BUSY)
def proving_a_number_with_the_password_while_too_many_hash(world):
    world.hash_elsewhere()
    return lambda: world.as_ann("PUT", "profile", phone=OTHER_PHONE, password=PASSWORD)


@deed("POST /2fa/setup", code=BUSY)
def setting_up_with_the_password_while_too_many_hash(world):
    world.hash_elsewhere()
    return lambda: world.as_ann("POST", "2fa/setup", password=PASSWORD)
