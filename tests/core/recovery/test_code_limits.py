"""A code accepts five attempts; attempts at the codes of many users are rate limited."""

import pytest

from authservice.core.messages import kinds
from tests.contract.shapes import is_refusal
from tests.support.flows import OTHER_PHONE, PHONE

pytestmark = pytest.mark.django_db

INVALID = (400, "INVALID_VERIFICATION_CODE")
LIMITED = (429, "TOO_MANY_REQUESTS")
UNKNOWN = "+4930123458"


@pytest.fixture
def ways(flows):
    """What a code of each kind is used for."""
    return {
        kinds.VERIFY_PHONE: flows.verify_phone,
        kinds.RESET_BY_CODE: lambda code, phone=PHONE: flows.reset_by_code(code, phone=phone),
    }


@pytest.fixture
def few(clock, configure):
    """`few(3)` sets how many wrong codes a network may send."""
    return lambda number: configure(THROTTLE={"RATES": {"guess": f"{number}/h"}})


@pytest.mark.parametrize("kind", [kinds.VERIFY_PHONE, kinds.RESET_BY_CODE])
def test_attempts_at_codes_of_many_numbers_are_rate_limited(ways, few, ann, kind):
    few(3)
    for phone in (PHONE, OTHER_PHONE, UNKNOWN):
        assert is_refusal(ways[kind]("123456", phone), *INVALID)

    late = ways[kind]("123456", "+4930123459")

    assert is_refusal(late, *LIMITED)
    assert int(late.headers["Retry-After"]) > 0


def test_wrong_codes_of_all_kinds_count_together_with_wrong_passwords(api, ways, few, ann):
    few(3)
    for use in ways.values():
        use("123456", UNKNOWN)
    api.post("login", email="nobody@example.com", password="wrong")

    assert api.post("login", email="nobody@example.com", password="wrong").error == LIMITED


def test_right_code_that_verifies_does_not_count_as_an_attempt(api, flows, few, ann):
    code = flows.phone_code()
    few(1)

    assert flows.verify_phone(code).status == 200
    assert flows.verify_phone(code).error == INVALID


def test_right_code_that_resets_does_not_count_as_an_attempt(flows, few, proven):
    code = flows.reset_code()
    few(1)

    assert flows.reset_by_code(code, new_password="short1!").code == "INVALID_PASSWORD"
    assert flows.reset_by_code(code).status == 200
