"""Changes that may happen between the proof of a user and the step that returns tokens."""

from __future__ import annotations

from typing import Any

from authservice.core.models import Account
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


def throttled(world: World, path: LoginPath, proof: Any) -> None:
    path.use_up_limit(world, proof)
