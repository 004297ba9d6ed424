"""Attempts at mailed codes are limited over all mails of a day; links still work."""

import pytest

from authservice.core.models import AttemptCounter
from tests.client import PASSWORD
from tests.magiclink.magic import ANN
from tests.recovery.flows import wrong
from tests.recovery.statements import statements

pytestmark = pytest.mark.django_db

INVALID = (400, "INVALID_VERIFICATION_CODE")
NOBODY = "nobody@example.com"


@pytest.fixture(autouse=True)
def _no_limits_of_messages(clock, no_floods):
    """As many mails as an attacker with many addresses could request."""


def test_of_guesses_over_thirty_mails_ten_are_judged(ann, magic):
    for _ in range(30):
        code = magic.mailed().code
        for _ in range(5):
            assert magic.type(wrong(code)).error == INVALID
    last = magic.mailed()

    assert max(AttemptCounter.objects.values_list("day_count", flat=True)) == 10
    assert magic.type(last.code).error == INVALID
    assert magic.follow(last.token).status == 200


def test_strangers_who_guess_do_not_end_the_code_of_a_known_device(api, ann, magic):
    device = api.post("login", email=ANN, password=PASSWORD).headers["X-Device-Token"]
    for _ in range(3):
        pair = magic.mailed()
        for _ in range(5):
            magic.type(wrong(pair.code))

    assert magic.type(pair.code, X_Device_Token=device).status == 200


@pytest.mark.parametrize("before", [0, 1, 5, 10])
def test_wrong_code_costs_the_same_statements_for_every_address(ann, magic, before):
    code = magic.mailed().code
    magic.ask(NOBODY)
    for _ in range(before):
        magic.type(wrong(code))
        magic.type(wrong(code), NOBODY)

    known = statements(lambda: magic.type(wrong(code)))

    assert known == statements(lambda: magic.type(wrong(code), NOBODY))
