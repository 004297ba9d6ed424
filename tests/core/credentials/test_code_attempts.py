"""Attempts at codes sent by SMS: separate for known devices, and limited per day over all codes."""

import pytest

from authservice.core.models import Account, AttemptCounter
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, OTHER_PHONE, PHONE, wrong
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

INVALID = (400, "INVALID_VERIFICATION_CODE")
UNKNOWN = "+4930123458"


@pytest.fixture(autouse=True)
def _no_limits_of_messages(clock, no_floods):
    """As many codes as an attacker with many addresses could request."""


@pytest.fixture
def device(api, proven):
    return api.post("login", email=ANN, password=PASSWORD).headers["X-Device-Token"]


@pytest.fixture
def reset(api):
    def reset(code, device="", phone=PHONE):
        headers = {"X-Device-Token": device} if device else {}
        body = {"code": code, "phone": phone, "new_password": NEW}
        return api.post("reset-password", headers=headers, **body)

    return reset


def log_in(api):
    return api.post("login", email=ANN, password=PASSWORD)


def set_number(api, phone):
    token = log_in(api).data["access_token"]
    assert api.request("PUT", "profile", {"phone": phone}, token=token).status == 200


def verify(api, code, device):
    headers = {"X-Device-Token": device} if device else {}
    return api.post("verify-phone", headers=headers, phone=OTHER_PHONE, code=code)


def test_wrong_codes_of_unknown_clients_leave_the_code_to_a_known_device(flows, reset, device):
    code = flows.reset_code()
    for _ in range(5):
        assert reset(wrong(code)).error == INVALID

    assert reset(code).error == INVALID
    assert reset(code, device).status == 200


def test_known_device_has_five_attempts_at_a_code_of_its_own(flows, reset, device):
    code = flows.reset_code()
    for _ in range(5):
        assert reset(wrong(code), device).error == INVALID

    assert reset(code, device).error == INVALID
    assert reset(code).status == 200


def test_unknown_clients_have_ten_attempts_a_day_over_all_codes(flows, reset, proven):
    for _ in range(30):
        code = flows.reset_code()
        for _ in range(5):
            assert reset(wrong(code)).error == INVALID

    assert AttemptCounter.objects.get(day_count__gt=0).day_count == 10
    assert reset(flows.reset_code()).error == INVALID


def test_reset_by_link_works_after_the_daily_attempts_and_resets_them(api, flows, reset, proven):
    for _ in range(3):
        code = flows.reset_code()
        for _ in range(5):
            reset(wrong(code))
    assert reset(flows.reset_code()).error == INVALID

    assert flows.reset(flows.reset_token()).status == 200
    assert reset(flows.reset_code()).status == 200


def test_attempts_of_unknown_clients_return_after_a_day(flows, reset, proven, clock):
    for _ in range(3):
        code = flows.reset_code()
        for _ in range(5):
            reset(wrong(code))
    clock.forward(days=1)

    assert reset(flows.reset_code()).status == 200


@pytest.mark.parametrize("before", [5, 4, 0])
@pytest.mark.parametrize("opens_account", [True, False])
def test_code_has_five_attempts_when_a_day_ends_meanwhile(
    flows, reset, proven, clock, opens_account, before
):
    """Otherwise a code that is valid at that moment would have up to ten attempts."""
    if not opens_account:
        Account.objects.update(verified_phone_key="")
    request, use = (
        (flows.reset_code, reset) if opens_account else (flows.phone_code, flows.verify_phone)
    )
    use(wrong(request()))
    clock.forward(hours=23, minutes=55)
    code = request()
    for _ in range(before):
        assert use(wrong(code)).error == INVALID
    clock.forward(minutes=6)
    for _ in range(5 - before):
        assert use(wrong(code)).error == INVALID

    assert use(code).error == INVALID


def test_new_code_has_five_attempts_after_a_right_one(flows, reset, proven, clock):
    """A right code does not count, but it opened the window."""
    assert reset(flows.reset_code()).status == 200
    clock.forward(hours=23, minutes=55)
    code = flows.reset_code()
    for _ in range(4):
        assert reset(wrong(code)).error == INVALID
    clock.forward(minutes=6)
    assert reset(wrong(code)).error == INVALID

    assert reset(code).error == INVALID


def test_known_device_has_ten_attempts_a_day_over_all_codes(flows, reset, device):
    for _ in range(3):
        code = flows.reset_code()
        for _ in range(5):
            reset(wrong(code), device)
    code = flows.reset_code()

    assert reset(code, device).error == INVALID
    assert reset(code).status == 200


def test_known_device_of_another_account_counts_as_an_unknown_client(api, flows, reset, proven):
    other = api.post("signup", email="ben@example.com", password=PASSWORD)
    code = flows.reset_code()
    for _ in range(5):
        reset(wrong(code))

    assert reset(code, other.headers["X-Device-Token"]).error == INVALID


def test_right_code_does_not_count_as_an_attempt(flows, reset, proven, api):
    for _ in range(12):
        assert reset(flows.reset_code()).status == 200


def test_code_that_verifies_a_number_has_no_daily_limit(flows, ann):
    for _ in range(4):
        code = flows.phone_code()
        for _ in range(4):
            assert flows.verify_phone(wrong(code)).error == INVALID

    assert flows.verify_phone(flows.phone_code()).status == 200


def test_code_that_verifies_a_number_has_five_attempts_for_all_devices(api, flows, proven):
    set_number(api, OTHER_PHONE)
    devices = [log_in(api).headers["X-Device-Token"] for _ in range(8)]
    code = flows.phone_code(OTHER_PHONE)

    for device in devices[:5]:
        assert verify(api, wrong(code), device).error == INVALID

    for device in [*devices, ""]:
        assert verify(api, code, device).error == INVALID


def test_new_code_that_verifies_a_number_gives_devices_five_new_attempts(api, flows, proven):
    set_number(api, OTHER_PHONE)
    device = log_in(api).headers["X-Device-Token"]
    code = flows.phone_code(OTHER_PHONE)
    for _ in range(5):
        assert verify(api, wrong(code), device).error == INVALID

    assert verify(api, flows.phone_code(OTHER_PHONE), device).status == 200


def test_attempts_to_verify_a_number_do_not_count_as_attempts_to_reset(flows, reset, proven):
    for _ in range(10):
        flows.verify_phone("123456")

    assert reset(flows.reset_code()).status == 200


def test_known_device_is_not_limited_with_its_network(api, flows, reset, device, configure):
    code = flows.reset_code()
    configure(THROTTLE={"RATES": {"guess": "1/h"}})
    reset("123456", phone=UNKNOWN)

    assert reset(code).error == (429, "TOO_MANY_REQUESTS")
    assert reset(code, device).status == 200


@pytest.mark.parametrize("before", [0, 1, 5, 10])
def test_wrong_code_to_reset_costs_the_same_statements_for_every_number(
    flows, reset, proven, before
):
    code = flows.reset_code()
    for _ in range(before):
        reset(wrong(code))
        reset(wrong(code), phone=UNKNOWN)

    known = statements(lambda: reset(wrong(code)))

    assert known == statements(lambda: reset(wrong(code), phone=UNKNOWN))


@pytest.mark.parametrize("before", [0, 1, 5])
def test_wrong_code_to_verify_costs_the_same_statements_for_every_number(flows, ann, before):
    code = flows.phone_code()
    for _ in range(before):
        flows.verify_phone(wrong(code))
        flows.verify_phone(wrong(code), UNKNOWN)

    known = statements(lambda: flows.verify_phone(wrong(code)))

    assert known == statements(lambda: flows.verify_phone(wrong(code), UNKNOWN))


def test_attempt_at_a_code_is_counted_whether_or_not_a_code_exists(reset, proven):
    for phone in (PHONE, UNKNOWN):
        reset("123456", phone=phone)

    counted = AttemptCounter.objects.filter(count__gt=0).values_list("count", "day_count")
    assert list(counted) == [(1, 1), (1, 1)]
