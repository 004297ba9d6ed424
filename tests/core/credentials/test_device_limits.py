"""Number and duration of devices with their own attempts, and their attempts per day."""

import pytest

from authservice.core.models import DEVICES, Account
from tests.support import hashing
from tests.support.client import PASSWORD
from tests.support.people import change

pytestmark = pytest.mark.django_db

ANN = "ann@example.com"
NEW = "another plum tart 42"
WRONG = (401, "INVALID_CREDENTIALS")
LOCKED = (429, "TOO_MANY_ATTEMPTS")


@pytest.fixture(autouse=True)
def ann(api, clock, configure):
    configure(THROTTLE={"ENABLED": False})
    return api.sign_up()


@pytest.fixture
def attempt(api):
    """A login of the first user on a device; the password is wrong unless given."""

    def attempt(device="", password="wrong"):
        headers = {"X-Device-Token": device} if device else {}
        return api.post("login", email=ANN, password=password, headers=headers)

    return attempt


@pytest.fixture
def new_device(attempt):
    return lambda: attempt(password=PASSWORD).headers["X-Device-Token"]


@pytest.fixture
def lock(attempt):
    """Unknown clients use up the attempts at the address."""

    def lock():
        while attempt().error == WRONG:
            pass

    return lock


def change_password(api, token, **headers):
    body = {"old_password": PASSWORD, "new_password": NEW}
    return api.request("PUT", "change-password", body, token=token, headers=headers)


def test_devices_from_before_a_password_change_have_no_attempts_of_their_own(
    api, ann, attempt, new_device
):
    collected = [new_device() for _ in range(15)]
    change_password(api, ann["access_token"])

    with hashing.spied() as spy:
        errors = [attempt(device).error for device in collected for _ in range(8)]

    assert len(spy.made) == 10  # the attempts of unknown clients
    assert errors == [WRONG] * 10 + [LOCKED] * 110


def test_newest_devices_have_attempts_of_their_own(new_device, attempt, lock):
    devices = [new_device() for _ in range(DEVICES + 1)]
    lock()

    assert [attempt(device).error for device in devices] == [LOCKED] + [WRONG] * DEVICES


def test_login_on_a_known_device_does_not_remove_other_devices(new_device, attempt, lock):
    first = new_device()
    devices = [new_device() for _ in range(DEVICES - 1)]
    for _ in range(3):
        attempt(devices[-1], PASSWORD)
    lock()

    assert attempt(first).error == WRONG


def test_login_on_a_known_device_writes_nothing_to_the_account(new_device, attempt):
    device = new_device()
    before = Account.objects.get().device_ids

    attempt(device, PASSWORD)

    assert Account.objects.get().device_ids == before


def test_device_that_was_removed_becomes_known_again_by_a_login(new_device, attempt, lock):
    first = new_device()
    for _ in range(DEVICES):
        new_device()
    again = attempt(first, PASSWORD).headers["X-Device-Token"]
    lock()

    assert attempt(again, PASSWORD).status == 200


def test_devices_of_an_account_share_a_hundred_attempts_a_day(attempt, new_device, clock):
    devices = [new_device() for _ in range(DEVICES)]
    checked = 0
    for _ in range(2):
        errors = [attempt(device).error for device in devices for _ in range(9)]
        checked += errors.count(WRONG)
        clock.forward(minutes=16)

    assert checked == 100
    assert attempt().error == WRONG  # unknown clients have their own attempts


def test_shared_attempts_of_devices_return_after_a_day(attempt, new_device, clock):
    devices = [new_device() for _ in range(DEVICES)]
    for device in devices * 10:
        attempt(device)
    last = new_device()
    late = attempt(last, PASSWORD)
    wait = int(late.headers["Retry-After"])
    clock.forward(seconds=wait)

    assert late.error == LOCKED
    assert 23 * 3600 < wait <= 24 * 3600 + 1
    assert attempt(last, PASSWORD).status == 200


def test_refusal_by_the_shared_limit_uses_no_attempt_of_the_device(attempt, new_device, clock):
    devices = [new_device() for _ in range(DEVICES)]
    for device in devices * 10:
        attempt(device)
    last = new_device()
    for _ in range(20):
        assert attempt(last).error == LOCKED
    clock.forward(days=1, seconds=1)

    assert [attempt(last).error for _ in range(10)] == [WRONG] * 10


def test_login_on_a_device_refunds_both_counts(attempt, new_device):
    device = new_device()
    for _ in range(110):
        assert attempt(device, PASSWORD).status == 200


def test_unknown_clients_do_not_use_up_the_attempts_of_devices(attempt, new_device, clock):
    device = new_device()
    for _ in range(12):
        for _ in range(9):
            attempt()
        clock.forward(minutes=16)

    assert attempt(device, PASSWORD).status == 200


def test_password_change_issues_a_new_device_token(api, ann, attempt, new_device, lock):
    device = new_device()
    answer = change_password(api, ann["access_token"], **{"X-Device-Token": device})
    renewed = answer.headers["X-Device-Token"]
    lock()

    assert renewed != device
    assert answer.response.cookies["authservice_device"].value == renewed
    assert attempt(renewed, NEW).status == 200
    assert attempt(device, NEW).error == LOCKED


def test_password_change_on_an_unknown_device_makes_it_known(api, ann, attempt, lock):
    device = change_password(api, ann["access_token"]).headers["X-Device-Token"]
    lock()

    assert attempt(device, NEW).status == 200


def test_refused_password_change_keeps_devices(api, ann, attempt, new_device, lock):
    device = new_device()
    body = {"old_password": "wrong", "new_password": NEW}
    answer = api.request("PUT", "change-password", body, token=ann["access_token"])
    lock()

    assert "X-Device-Token" not in answer.headers
    assert attempt(device, PASSWORD).status == 200


def test_hash_upgrade_keeps_devices(settings, attempt, new_device, lock):
    device = new_device()
    settings.PASSWORD_HASHERS = [
        "tests.support.hashing.OldPBKDF2",
        *settings.PASSWORD_HASHERS,
    ]
    attempt(device, PASSWORD)
    lock()

    assert attempt(device, PASSWORD).status == 200


def test_password_set_by_the_host_keeps_devices(attempt, new_device, lock):
    """Only the service raises the version; a device token alone gives no access."""
    device = new_device()
    change(ANN, password=Account.objects.get().user.password)
    lock()

    assert attempt(device, PASSWORD).status == 200
