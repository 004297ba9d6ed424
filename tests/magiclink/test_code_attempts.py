"""Attempts at mailed codes are limited over all mails of a day; links still work."""

import pytest

from authservice.core.models import AttemptCounter
from tests.magiclink.magic import ANN
from tests.support.client import PASSWORD
from tests.support.flows import wrong
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

INVALID = (400, "INVALID_VERIFICATION_CODE")
NOBODY = "nobody@example.com"


@pytest.fixture(autouse=True)
def _no_limits_of_messages(clock, no_floods):
    """Disables the rate limits: an attacker with many addresses can request this many e-mails."""


def test_attempts_over_thirty_emails_are_limited_to_ten(ann, magic):
    for _ in range(30):
        code = magic.mailed().code
        for _ in range(5):
            assert magic.type(wrong(code)).error == INVALID
    last = magic.mailed()

    assert max(AttemptCounter.objects.values_list("day_count", flat=True)) == 10
    assert magic.type(last.code).error == INVALID
    assert magic.follow(last.token).status == 200


def test_wrong_codes_of_unknown_clients_do_not_block_a_known_device(api, ann, magic):
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
