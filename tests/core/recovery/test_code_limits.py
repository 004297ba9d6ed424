"""Codes have five tries each; who guesses at the codes of many is held up over all of them."""

import pytest

from authservice.kernel import message_queue
from tests.contract.shapes import is_refusal
from tests.recovery.flows import OTHER_PHONE, PHONE

pytestmark = pytest.mark.django_db

INVALID = (400, "INVALID_VERIFICATION_CODE")
HELD_UP = (429, "TOO_MANY_REQUESTS")
STRANGER = "+4930123458"


@pytest.fixture
def ways(flows):
    """What is done with a code of either kind."""
    return {
        message_queue.VERIFY_PHONE: flows.verify_phone,
        message_queue.RESET_BY_CODE: lambda code, phone=PHONE: flows.reset_by_code(
            code, phone=phone
        ),
    }


@pytest.fixture
def few(configure):
    """`few(3)` is how many wrong codes a network has from now on."""
    return lambda number: configure(THROTTLE={"RATES": {"guess": f"{number}/h"}})


@pytest.mark.parametrize("kind", [message_queue.VERIFY_PHONE, message_queue.RESET_BY_CODE])
def test_who_guesses_at_many_codes_is_held_up(ways, few, ann, kind):
    few(3)
    for phone in (PHONE, OTHER_PHONE, STRANGER):
        assert is_refusal(ways[kind]("123456", phone), *INVALID)

    late = ways[kind]("123456", "+4930123459")

    assert is_refusal(late, *HELD_UP)
    assert int(late.headers["Retry-After"]) > 0


def test_wrong_codes_of_all_kinds_count_together_with_wrong_passwords(api, ways, few, ann):
    few(3)
    for use in ways.values():
        use("123456", STRANGER)
    api.post("login", email="nobody@example.com", password="wrong")

    assert api.post("login", email="nobody@example.com", password="wrong").error == HELD_UP


def test_a_right_code_that_verifies_was_no_guess(api, flows, few, ann):
    code = flows.phone_code()
    few(1)

    assert flows.verify_phone(code).status == 200
    assert flows.verify_phone(code).error == INVALID


def test_a_right_code_that_resets_was_no_guess(flows, few, proven):
    code = flows.reset_code()
    few(1)

    assert flows.reset_by_code(code, new_password="short1!").code == "INVALID_PASSWORD"
    assert flows.reset_by_code(code).status == 200
