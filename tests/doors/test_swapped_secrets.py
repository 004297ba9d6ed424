"""A secret opens what it was made for, and nothing else."""

import pytest

from tests.doors.secrets import PLACES, SECRETS, known_device, second_step
from tests.doors.secrets import enrolment_token as enrolment

OWN = [(mint, use) for mint, uses in SECRETS.items() for use in uses]
# It waits for a code of what is yet to be set up: refused, but not as a stranger.
WAITING = (enrolment, second_step)
SWAPPED = [
    (mint, use)
    for mint in SECRETS
    for use in PLACES
    if (mint, use) not in OWN and (mint, use) != WAITING
]


def named(value):
    return value.__name__


@pytest.mark.parametrize(("mint", "use"), SWAPPED, ids=named)
def test_a_secret_is_refused_in_the_place_of_another(world, mint, use):
    secret = mint(world)

    answer = use(world, secret)

    assert answer.code == PLACES[use]


@pytest.mark.parametrize(("mint", "use"), OWN, ids=named)
def test_a_secret_is_taken_in_its_own_place(world, mint, use):
    secret = mint(world)

    answer = use(world, secret)

    assert answer.status == 200


def test_a_temp_token_to_enrol_with_passes_by_no_code(world):
    secret = enrolment(world)

    answer = second_step(world, secret)

    assert answer.error == (400, "TWO_FACTOR_NOT_ENABLED")


# Strangers' guesses, which that place takes, are used up by it.
@pytest.mark.parametrize(
    ("mint", "use"), [pair for pair in SWAPPED if pair[1] is not known_device], ids=named
)
def test_the_wrong_place_does_not_use_a_secret_up(world, mint, use):
    secret = mint(world)
    use(world, secret)
    world.api.paired = True

    answer = SECRETS[mint][0](world, secret)

    assert answer.status == 200
