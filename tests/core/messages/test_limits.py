"""So many letters to one target, and no more: over the limit the answer is the usual one."""

import pytest
from django.core.cache import cache

from tests.recovery.flows import ANN, OTHER_PHONE, PHONE
from tests.recovery.test_sending import ROUTES

pytestmark = pytest.mark.django_db

BEN = "ben@example.com"


@pytest.fixture
def send(api, post, clock):
    """Ask, from an address and perhaps a device; how many letters that yields."""

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
    """The token of a device that the first user has signed in from."""
    api.sign_up(phone_number=PHONE)
    token = api.post("login", email=ANN, password="plum tart 42 windows").headers["X-Device-Token"]
    post.jobs.clear()
    return token


@pytest.mark.parametrize(("path", "body", "_"), ROUTES)
def test_three_in_fifteen_minutes_and_no_more(send, path, body, _):
    assert [send(path, **body) for _ in range(5)] == [1, 1, 1, 0, 0]


def test_after_fifteen_minutes_there_are_three_more(send, clock):
    for _ in range(3):
        send()
    clock.forward(minutes=15)

    assert [send() for _ in range(4)] == [1, 1, 1, 0]


def test_ten_a_day_and_no_more(send, clock):
    sent = []
    for _ in range(5):
        sent += [send() for _ in range(3)]
        clock.forward(minutes=16)

    assert sent == [1] * 10 + [0] * 5


def test_tomorrow_is_another_day(send, clock):
    for _ in range(4):
        for _ in range(3):
            send()
        clock.forward(minutes=16)
    clock.forward(days=1)

    assert send() == 1


def test_requests_that_sent_nothing_use_up_nothing_of_the_day(send, clock):
    for _ in range(20):
        send()
    clock.forward(minutes=16)

    assert send() == 1


def test_unknown_senders_together_have_thirty_mails_a_day_and_one_more(send):
    sent = [send(address=f"192.0.2.{number}") for number in range(1, 34)]

    assert sent == [1] * 31 + [0] * 2


def test_unknown_senders_together_have_thirty_texts_a_day(send):
    sent = [send(address=f"192.0.2.{number}", phone=PHONE) for number in range(1, 33)]

    assert sent == [1] * 30 + [0] * 2


def test_one_address_alone_cannot_use_up_the_share_of_all_strangers(send):
    for _ in range(40):
        send(address="192.0.2.1")

    assert send(address="192.0.2.2") == 1


def test_a_device_that_the_owner_knows_has_a_share_of_its_own(send, device):
    for number in range(1, 33):
        send(address=f"192.0.2.{number}")

    assert [send(device=device) for _ in range(4)] == [1, 1, 1, 0]


def test_a_known_device_has_a_share_of_its_own_by_phone_too(send, device):
    for number in range(1, 33):
        send(address=f"192.0.2.{number}", phone=PHONE)

    assert send(device=device, phone=PHONE) == 1


def test_a_known_device_is_counted_wherever_it_is(send, device):
    for _ in range(3):
        send(device=device)

    assert send(address="192.0.2.2", device=device) == 0


def test_a_device_of_somebody_else_is_a_stranger(send, device):
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
def test_resending_is_sending(send, path, again, target):
    for _ in range(3):
        send(path, **target)

    assert send(again, **target) == 0


def test_each_purpose_is_counted_apart(send):
    for _ in range(3):
        send("forgot-password", email=ANN)

    assert send("send-verification-email", email=ANN) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [({"email": ANN}, {"email": BEN}), ({"phone": PHONE}, {"phone": OTHER_PHONE})],
)
def test_each_target_is_counted_apart(send, one, other):
    for _ in range(3):
        send(**one)

    assert send(**other) == 1


def test_spellings_of_one_address_are_one_target(send):
    for spelling in (ANN, "ANN@example.com", " ann@EXAMPLE.com"):
        send(email=spelling)

    assert send(email="Ann@Example.Com") == 0


def test_each_client_address_is_counted_apart(send):
    for _ in range(3):
        send(address="192.0.2.1")

    assert send(address="192.0.2.2") == 1


def test_the_addresses_of_one_ipv6_network_are_one(send):
    for host in range(3):
        send(address=f"2001:db8:1:2::{host}")

    assert send(address="2001:db8:1:2:ffff::1") == 0


def test_they_can_be_turned_off(send, configure):
    configure(THROTTLE={"ENABLED": False})

    assert [send() for _ in range(12)] == [1] * 12


def test_a_cleared_cache_lets_nothing_more_through(send):
    for _ in range(3):
        send()
    cache.clear()

    assert send() == 0
