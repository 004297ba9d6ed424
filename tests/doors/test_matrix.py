"""Whichever road somebody takes, and whatever has become of them meanwhile: tokens only where they
are due, said in JSON, in a redirect or in cookies.

A second factor stands on every road. What was mailed ends with the address it went to, and with the
password. Who signed in before a demand was made stays in.
"""

import pytest

from tests.doors import states
from tests.doors.roads import ROADS
from tests.doors.world import TOKENS, given_away, outcome

NO_LINK, NO_CODE, NO_REFRESH = "INVALID_TOKEN", "INVALID_VERIFICATION_CODE", "INVALID_REFRESH_TOKEN"
LINKS = ("link", "link, redirected", "button", "button, redirected")
PASSWORDS = ("password", "password of a username")
MAGIC = (*LINKS, "code")
STEPS = ("second step", "first enrolment")


def rows(default: str, *changes: tuple[tuple[str, ...], str]) -> dict[str, str]:
    """What comes of each road: `default`, but for the roads that are named."""
    expected = {str(road): default for road in ROADS}
    for names, what in changes:
        expected |= dict.fromkeys(names, what)
    return expected


NEW, OLD, CODE = ("signup",), ("refresh",), ("code",)
EXPECTED = {
    "nothing": rows(TOKENS),
    "second_factor": rows(
        "2fa",
        (NEW, TOKENS),
        (OLD, NO_REFRESH),
        (("second step",), TOKENS),
        # What was to be set up is set up: a password alone passes by it no more.
        (("first enrolment",), NO_LINK),
    ),
    "factor_demanded": rows("2fa_setup", (OLD, TOKENS), (STEPS, TOKENS)),
    "inactive": rows(
        NO_LINK, (PASSWORDS, "USER_NOT_ACTIVE"), (NEW, TOKENS), (OLD, NO_REFRESH), (CODE, NO_CODE)
    ),
    "unverified": rows("EMAIL_NOT_VERIFIED", (NEW, "nothing"), (OLD, TOKENS), (MAGIC, TOKENS)),
    "phone_demanded": rows("PHONE_NOT_VERIFIED", (NEW, "VALIDATION_ERROR"), (OLD, TOKENS)),
    "other_password": rows(
        NO_LINK,
        (PASSWORDS, "INVALID_CREDENTIALS"),
        (NEW, TOKENS),
        (OLD, NO_REFRESH),
        (CODE, NO_CODE),
    ),
    "other_address": rows(
        TOKENS, (("password",), "INVALID_CREDENTIALS"), (LINKS, NO_LINK), (CODE, NO_CODE)
    ),
    "throttled": rows(
        "TOO_MANY_REQUESTS",
        (PASSWORDS, "TOO_MANY_ATTEMPTS"),
        (CODE, NO_CODE),
        (STEPS, "TOO_MANY_ATTEMPTS"),
    ),
}


@pytest.mark.parametrize("road", ROADS, ids=str)
@pytest.mark.parametrize("state", EXPECTED)
def test_tokens_come_only_where_they_are_due(world, state, road):
    proof = road.prepare(world)
    getattr(states, state)(world, road, proof)
    before = world.sessions()

    answer = road.walk(world, proof)

    expected = EXPECTED[state][str(road)]
    assert outcome(answer) == expected
    assert bool(given_away(answer)) == (expected == TOKENS)
    assert world.sessions() <= before + (expected == TOKENS)
