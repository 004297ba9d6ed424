"""Messages to one recipient are limited; beyond the limit the response stays the same."""

import pytest
from django.core.cache import cache

from tests.core.messages.test_requests import ROUTES
from tests.support.flows import ANN, OTHER_PHONE, PHONE

pytestmark = pytest.mark.django_db

BEN = "ben@example.com"


@pytest.fixture
def send(api, post, clock):
    """Requests a message from an address or a device; returns how many messages are sent."""

    def send(path="forgot-password", address="192.0.2.1", device="", **target):
        before = len(post.jobs)
        headers = {"X-Device-Token": device} if device else {}
        body = target or {"email": ANN}
        answer = api.request("POST", path, body, headers=headers, REMOTE_ADDR=address)
        assert answer.status == 200
        return len(post.jobs) - before

    return send


@pytest.fixture
def device(api, post):
    """The token of a device on which the first user logged in."""
    api.sign_up(phone_number=PHONE)
    token = api.post("login", email=ANN, password="plum tart 42 windows").headers["X-Device-Token"]
    post.jobs.clear()
    return token


@pytest.mark.parametrize(("path", "body", "_"), ROUTES)
def test_messages_to_a_recipient_are_limited_to_three_in_fifteen_minutes(send, path, body, _):
    assert [send(path, **body) for _ in range(5)] == [1, 1, 1, 0, 0]


def test_limit_of_three_renews_after_fifteen_minutes(send, clock):
    for _ in range(3):
        send()
    clock.forward(minutes=15)

    assert [send() for _ in range(4)] == [1, 1, 1, 0]


def test_limit_of_three_renews_on_time_if_it_was_used_up_late(send, clock):
    send()
    send()
    clock.forward(minutes=14, seconds=50)
    assert [send(), send()] == [1, 0]
    clock.forward(seconds=20)

    assert [send() for _ in range(4)] == [1, 1, 1, 0]


def test_messages_to_a_recipient_are_limited_to_ten_a_day(send, clock):
    sent = []
    for _ in range(5):
        sent += [send() for _ in range(3)]
        clock.forward(minutes=16)

    assert sent == [1] * 10 + [0] * 5


def test_limit_of_ten_renews_after_a_day(send, clock):
    for _ in range(4):
        for _ in range(3):
            send()
        clock.forward(minutes=16)
    clock.forward(days=1)

    assert send() == 1


def test_requests_that_send_nothing_do_not_count_for_the_day(send, clock):
    for _ in range(20):
        send()
    clock.forward(minutes=16)

    assert send() == 1


def test_unknown_clients_together_can_send_thirty_one_emails_a_day(send):
    sent = [send(address=f"192.0.2.{number}") for number in range(1, 34)]

    assert sent == [1] * 31 + [0] * 2


def test_unknown_clients_together_can_send_thirty_sms_a_day(send):
    sent = [send(address=f"192.0.2.{number}", phone=PHONE) for number in range(1, 33)]

    assert sent == [1] * 30 + [0] * 2


def test_one_client_cannot_use_up_the_limit_of_all_unknown_clients(send):
    for _ in range(40):
        send(address="192.0.2.1")

    assert send(address="192.0.2.2") == 1


def test_known_device_has_a_limit_of_its_own(send, device):
    for number in range(1, 33):
        send(address=f"192.0.2.{number}")

    assert [send(device=device) for _ in range(4)] == [1, 1, 1, 0]


def test_known_device_has_a_limit_of_its_own_for_sms_too(send, device):
    for number in range(1, 33):
        send(address=f"192.0.2.{number}", phone=PHONE)

    assert send(device=device, phone=PHONE) == 1


def test_known_device_is_counted_from_every_address(send, device):
    for _ in range(3):
        send(device=device)

    assert send(address="192.0.2.2", device=device) == 0


def test_device_of_another_user_is_an_unknown_client(send, device):
    for _ in range(3):
        send(email=BEN)

    assert send(email=BEN, device=device) == 0


@pytest.mark.parametrize(
    ("path", "again", "target"),
    [
        ("send-verification-email", "resend-verification-email", {"email": ANN}),
        ("send-verification-phone", "resend-verification-phone", {"phone": PHONE}),
    ],
)
def test_send_and_resend_share_their_limit(send, path, again, target):
    for _ in range(3):
        send(path, **target)

    assert send(again, **target) == 0


def test_each_purpose_has_its_own_limit(send):
    for _ in range(3):
        send("forgot-password", email=ANN)

    assert send("send-verification-email", email=ANN) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [({"email": ANN}, {"email": BEN}), ({"phone": PHONE}, {"phone": OTHER_PHONE})],
)
def test_each_recipient_has_its_own_limit(send, one, other):
    for _ in range(3):
        send(**one)

    assert send(**other) == 1


def test_address_in_another_case_is_the_same_recipient(send):
    for address in (ANN, "ANN@example.com", " ann@EXAMPLE.com"):
        send(email=address)

    assert send(email="Ann@Example.Com") == 0


def test_each_client_address_has_its_own_limit(send):
    for _ in range(3):
        send(address="192.0.2.1")

    assert send(address="192.0.2.2") == 1


def test_addresses_of_one_ipv6_network_share_a_limit(send):
    for host in range(3):
        send(address=f"2001:db8:1:2::{host}")

    assert send(address="2001:db8:1:2:ffff::1") == 0


def test_limits_can_be_turned_off(send, configure):
    configure(THROTTLE={"ENABLED": False})

    assert [send() for _ in range(12)] == [1] * 12


def test_limits_do_not_depend_on_the_cache(send):
    for _ in range(3):
        send()
    cache.clear()

    assert send() == 0
