"""Other clients behind the same address do not lock out the owner of a known device."""

import pytest

from tests.support.client import PASSWORD

pytestmark = pytest.mark.django_db

ANN, BEN = "ann@example.com", "ben@example.com"
OFFICE = {"REMOTE_ADDR": "192.0.2.10"}
RATE_LIMITED = (429, "TOO_MANY_REQUESTS")


@pytest.fixture(autouse=True)
def _clock(clock):
    """A window must not end in the middle of a test."""


@pytest.fixture
def device(api):
    return api.request("POST", "signup", {"email": ANN, "password": PASSWORD}).headers[
        "X-Device-Token"
    ]


@pytest.fixture
def log_in(api):
    def log_in(device="", email=ANN, password=PASSWORD):
        headers = {"X-Device-Token": device} if device else {}
        body = {"email": email, "password": password}
        return api.request("POST", "login", body, headers=headers, **OFFICE)

    return log_in


@pytest.fixture
def network_limited(log_in):
    """A client behind the address tries passwords until the limit of the network is reached."""
    for number in range(100):
        assert log_in(email=f"nobody{number}@example.com").status == 401
    assert log_in(email="nobody@example.com").error == RATE_LIMITED


@pytest.mark.usefixtures("network_limited")
def test_known_device_logs_in_while_its_network_is_limited(device, log_in):
    assert log_in(device).status == 200


@pytest.mark.usefixtures("network_limited")
def test_known_device_passes_the_network_limit_for_its_own_account_only(api, device, log_in):
    api.sign_up(BEN)

    assert log_in(device, BEN).error == RATE_LIMITED
    assert log_in(device, "nobody@example.com").error == RATE_LIMITED


@pytest.mark.usefixtures("network_limited")
def test_forged_device_token_does_not_pass_the_network_limit(device, log_in):
    assert log_in(device.swapcase()).error == RATE_LIMITED


def test_attempts_on_a_known_device_are_not_counted_for_its_network(device, log_in, configure):
    configure(THROTTLE={"RATES": {"guess": "3/h"}})
    for _ in range(5):
        assert log_in(device, password="wrong").status == 401

    assert log_in(email="nobody@example.com").status == 401


def test_general_limit_counts_a_known_device_separately_from_its_network(device, log_in, configure):
    configure(THROTTLE={"RATES": {"default": "5/d"}})
    for _ in range(5):
        log_in(email="nobody@example.com")
    assert log_in(email="nobody@example.com").error == RATE_LIMITED

    assert [log_in(device).status for _ in range(5)] == [200] * 5
    assert log_in(device).error == RATE_LIMITED


@pytest.fixture
def statuses(api):
    """`statuses(device, 3)` sends that many requests from the network, with or without a token."""

    def ask(device="", times=1):
        headers = {"X-Device-Token": device} if device else {}
        return [
            api.request("GET", ".well-known/jwks.json", headers=headers, **OFFICE).status
            for _ in range(times)
        ]

    return ask


@pytest.fixture
def devices(api, configure):
    """The device tokens of five accounts."""
    configure(THROTTLE={"RATES": {"default": "4/d"}})
    return [
        api.request(
            "POST",
            "signup",
            {"email": f"own{number}@example.com", "password": PASSWORD},
            REMOTE_ADDR=f"198.51.100.{number}",
        ).headers["X-Device-Token"]
        for number in range(5)
    ]


@pytest.mark.parametrize("order", ["devices first", "devices last", "in turns", "devices only"])
def test_devices_pass_the_general_limit_of_a_network_up_to_three_times_it(statuses, devices, order):
    asked = []
    for token in devices:
        if order == "in turns":
            asked += statuses(times=2)
        elif order == "devices last":
            asked += statuses(times=9)
        asked += statuses(token, times=9)
    if order == "devices first":
        asked += statuses(times=9)

    assert asked.count(200) == 3 * 4
    assert set(asked) == {200, 429}


def test_clients_without_a_token_leave_the_devices_of_their_network_a_limit(statuses, devices):
    assert statuses(times=50).count(200) == 4

    assert [statuses(token) for token in devices] == [[200]] * 5


def test_few_devices_leave_other_clients_of_their_network_a_limit(statuses, devices):
    assert (
        statuses(devices[0], times=9) + statuses(devices[1], times=9) == ([200] * 4 + [429] * 5) * 2
    )

    assert statuses(times=4) == [200] * 4


def test_device_token_used_elsewhere_does_not_use_up_the_general_limit(api, device, configure):
    """Such as the token of a former user of the account, which a changed password has revoked."""
    configure(THROTTLE={"RATES": {"default": "5/d"}})
    headers = {"X-Device-Token": device}

    def keys(address):
        return api.request(
            "GET", ".well-known/jwks.json", headers=headers, REMOTE_ADDR=address
        ).status

    assert [keys("192.0.2.99") for _ in range(6)] == [200] * 5 + [429]
    assert keys(OFFICE["REMOTE_ADDR"]) == 200


def test_general_limit_is_shared_by_the_devices_of_an_account(device, log_in, configure):
    tokens = [log_in().headers["X-Device-Token"] for _ in range(4)]
    configure(THROTTLE={"RATES": {"default": "5/d"}})

    answers = [log_in(token) for token in [device, *tokens, device]]

    assert [answer.status for answer in answers] == [200] * 5 + [429]


def test_limit_of_one_route_counts_a_known_device_with_its_network(api, device, configure):
    configure(THROTTLE={"RATES": {"is-available": "2/d"}})
    headers = {"X-Device-Token": device}
    codes = [api.post("is-available", email=ANN, headers=headers).status for _ in range(3)]

    assert codes == [200, 200, 429]
