"""Changes that may happen between the proof of a user and the step that returns tokens."""

from __future__ import annotations

from typing import Any

from django.db import connections

from authservice.core.models import Account
from authservice.kernel import databases
from authservice.kernel.hooks import LoginAttempt, Refused, SignupAttempt
from tests.core.login_matrix.login_path import LoginPath
from tests.core.login_matrix.world import World
from tests.support import people
from tests.support.flows import move


def nothing(world: World, path: LoginPath, proof: Any) -> None:
    """Nothing has changed."""


def second_factor(world: World, path: LoginPath, proof: Any) -> None:
    if not world.ann.app:
        world.ann.enrol()
        world.clock.forward(seconds=30)


def factor_required(world: World, path: LoginPath, proof: Any) -> None:
    world.configure(TWOFACTOR={"REQUIRED": "everybody"})


def inactive(world: World, path: LoginPath, proof: Any) -> None:
    people.deactivate()


def unverified(world: World, path: LoginPath, proof: Any) -> None:
    world.configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    Account.objects.update(verified_email_key="")


def phone_required(world: World, path: LoginPath, proof: Any) -> None:
    world.configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})


def other_password(world: World, path: LoginPath, proof: Any) -> None:
    user = people.the_user()
    user.set_password("quince jelly 71 doors")
    user.save()


def other_address(world: World, path: LoginPath, proof: Any) -> None:
    move("ann@example.org")


def refused_by_hook(world: World, path: LoginPath, proof: Any) -> None:
    global _outside
    _outside = _depth()
    here = "tests.core.login_matrix.states."
    hooks = {"LOGIN_HOOK": here + "refuse", "LOGIN_HOOK_PREPARE": here + "prepare"}
    world.configure(CORE=hooks)


_outside = 0


def _depth() -> int:
    """The number of open transactions and savepoints, with that of the test itself."""
    return len(connections[databases.primary()].atomic_blocks)


def prepare(attempt: LoginAttempt) -> object:
    assert _depth() == _outside
    return attempt.method, attempt.proofs


def refuse(attempt: LoginAttempt) -> None:
    assert _depth() > _outside
    assert attempt.prepared == (attempt.method, attempt.proofs)
    raise Refused("NOT_APPROVED", "Waiting for approval.")


def signup_refused_by_hook(world: World, path: LoginPath, proof: Any) -> None:
    global _outside
    _outside = _depth()
    world.configure(CORE={"SIGNUP_HOOK": "tests.core.login_matrix.states.refuse_signup"})


def refuse_signup(attempt: SignupAttempt) -> None:
    assert _depth() == _outside
    raise Refused("NOT_APPROVED", "Waiting for approval.")


def throttled(world: World, path: LoginPath, proof: Any) -> None:
    path.use_up_limit(world, proof)
