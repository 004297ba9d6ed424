"""A secret is accepted for its own purpose and nowhere else."""

import pytest

from tests.core.login_matrix.secrets import PLACES, SECRETS, known_device, second_step
from tests.core.login_matrix.secrets import enrolment_token as enrolment

OWN = [(issue, use) for issue, uses in SECRETS.items() for use in uses]
# It awaits a code of a factor that is not set up yet: refused, but with another error.
PENDING = (enrolment, second_step)
SWAPPED = [
    (issue, use)
    for issue in SECRETS
    for use in PLACES
    if (issue, use) not in OWN and (issue, use) != PENDING
]


def named(value):
    return value.__name__


@pytest.mark.parametrize(("issue", "use"), SWAPPED, ids=named)
def test_secret_is_refused_in_the_place_of_another(world, issue, use):
    secret = issue(world)

    answer = use(world, secret)

    assert answer.code == PLACES[use]


@pytest.mark.parametrize(("issue", "use"), OWN, ids=named)
def test_secret_is_accepted_in_its_own_place(world, issue, use):
    secret = issue(world)

    answer = use(world, secret)

    assert answer.status == 200


def test_enrolment_token_does_not_replace_the_code_of_the_second_step(world):
    secret = enrolment(world)

    answer = second_step(world, secret)

    assert answer.error == (400, "TWO_FACTOR_NOT_ENABLED")


# That place uses up the attempts of unknown clients itself.
@pytest.mark.parametrize(
    ("issue", "use"), [pair for pair in SWAPPED if pair[1] is not known_device], ids=named
)
def test_secret_stays_valid_after_use_in_the_wrong_place(world, issue, use):
    secret = issue(world)
    use(world, secret)
    world.api.paired = True

    answer = SECRETS[issue][0](world, secret)

    assert answer.status == 200
