"""Requests by which a signed-in user proves a level again, and the audit entries they write."""

from __future__ import annotations

from functools import partial

from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.core.models import Session
from tests.audit.world import ANN, WRONG, case, silent
from tests.support.client import PASSWORD
from tests.twofactor.people import Person

ASK, VERIFY = "POST /step-up", "POST /step-up/verify"
FAILED, DONE = "auth.step_up.failed ann", "auth.step_up ann"


def challenge(world, acr="own"):
    answer = world.as_ann("POST", "step-up", acr=acr)
    assert answer.status == 200, answer.body
    return answer.data["challenges"][0]["data"]["temp_token"]


def confirm(world, acr="own", **proof):
    return partial(
        world.as_ann, "POST", "step-up/verify", temp_token=challenge(world, acr), **proof
    )


def enrolled(world):
    return Person(world.api, ANN, world.token, world.ann_id).enrol()


silent(ASK, lambda world: world.as_ann("POST", "step-up"))


@case(ASK, code="STEP_UP_UNAVAILABLE")
def step_up_to_a_level_without_a_method(world):
    return partial(world.as_ann, "POST", "step-up", acr="phr")


@case(VERIFY, DONE)
def step_up_by_password(world):
    return confirm(world, password=PASSWORD)


@case(VERIFY, "auth.2fa.verified ann", DONE)
def step_up_by_code(world):
    return confirm(world, code=enrolled(world).code(1))


@case(VERIFY, FAILED, code="INVALID_CREDENTIALS")
def step_up_by_wrong_password(world):
    return confirm(world, password=WRONG)


@case(VERIFY, "auth.2fa.failed ann", FAILED, code="TWO_FACTOR_INVALID")
def step_up_by_wrong_code(world):
    return confirm(world, code=enrolled(world).wrong_code())


@case(VERIFY, "security.account.throttled ann", code="TOO_MANY_ATTEMPTS")
def step_up_after_too_many_attempts(world):
    for _ in range(BUDGET.limit):
        confirm(world, password=WRONG)()
    return confirm(world, password=PASSWORD)


@case(VERIFY, code="SERVICE_UNAVAILABLE")
def step_up_while_hash_slots_are_taken(world):
    act = confirm(world, password=PASSWORD)
    world.occupy_hash_slots()
    return act


@case(VERIFY, code="STEP_UP_REQUIRED")
def step_up_by_a_proof_that_is_too_weak(world):
    enrolled(world)
    return confirm(world, password=PASSWORD)


@case(VERIFY, code="INVALID_TOKEN")
def step_up_of_an_answered_challenge(world):
    act = confirm(world, password=PASSWORD)
    act()
    return act


@case("GET /me/export", code="STEP_UP_UNAVAILABLE")
def export_in_a_session_that_no_method_can_prove(world):
    enrolled(world)
    # Such as a session that continues one of another package.
    Session.objects.update(levels="", amr="legacy")
    return partial(world.as_ann, "GET", "me/export")
