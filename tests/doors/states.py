"""What may have become of somebody between their proof and the step that brings tokens."""

from __future__ import annotations

from typing import Any

from authservice.core.models import Account
from tests import people
from tests.doors.roads import Road
from tests.doors.world import World
from tests.recovery.flows import move


def nothing(world: World, road: Road, proof: Any) -> None:
    """All is well."""


def second_factor(world: World, road: Road, proof: Any) -> None:
    if not world.ann.app:
        world.ann.enrol()
        world.clock.forward(seconds=30)


def factor_demanded(world: World, road: Road, proof: Any) -> None:
    world.configure(TWOFACTOR={"REQUIRED": "everybody"})


def inactive(world: World, road: Road, proof: Any) -> None:
    people.deactivate()


def unverified(world: World, road: Road, proof: Any) -> None:
    world.configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    Account.objects.update(verified_email_key="")


def phone_demanded(world: World, road: Road, proof: Any) -> None:
    world.configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})


def other_password(world: World, road: Road, proof: Any) -> None:
    user = people.the_user()
    user.set_password("quince jelly 71 doors")
    user.save()


def other_address(world: World, road: Road, proof: Any) -> None:
    move("ann@example.org")


def throttled(world: World, road: Road, proof: Any) -> None:
    road.tire(world, proof)
