"""A device that signed in before has a budget of its own, out of reach of strangers."""

import pytest

from authservice.core.credentials import lockout
from authservice.core.users import lookup
from authservice.kernel import crypto
from authservice.kernel.http.client import client
from tests.client import PASSWORD
from tests.people import make_user, the_user

pytestmark = pytest.mark.django_db

WRONG = (401, "INVALID_CREDENTIALS")
SHUT = (429, "TOO_MANY_ATTEMPTS")


@pytest.fixture(autouse=True)
def _ann(api, clock):
    api.sign_up(username="ann")


@pytest.fixture
def guess(api):
    """A wrong guess at an address, the first user's unless told otherwise."""

    def guess(email="ann@example.com"):
        return api.post("login", email=email, password="wrong")

    return guess


@pytest.fixture
def used_up(guess):
    """Strangers use up the budget of an address."""

    def used_up(email="ann@example.com"):
        for _ in range(10):
            guess(email)
        assert guess(email).error == SHUT

    return used_up


def log_in(api, **more):
    return api.post("login", **{"email": "ann@example.com", "password": PASSWORD, **more})


@pytest.fixture
def device(api):
    return log_in(api).headers["X-Device-Token"]


def test_it_signs_in_while_strangers_have_shut_the_door(api, device, used_up):
    used_up()

    assert log_in(api).error == SHUT
    assert api.log_in(headers={"X-Device-Token": device})


def test_its_cookie_does_the_same(api, device, used_up):
    used_up()

    assert api.log_in(headers={"Cookie": f"authservice_device={device}"})


def test_its_budget_ends_too(api, device):
    errors = [
        api.post(
            "login",
            email="ann@example.com",
            password="wrong",
            headers={"X-Device-Token": device},
        ).error
        for _ in range(11)
    ]

    assert errors == [WRONG] * 10 + [SHUT]


def test_its_failures_leave_the_budget_of_the_name_alone(api, device, guess):
    for _ in range(10):
        api.post(
            "login",
            email="ann@example.com",
            password="wrong",
            headers={"X-Device-Token": device},
        )

    assert guess().error == WRONG


def test_a_device_keeps_its_token_however_often_it_signs_in(api, device):
    again = log_in(api, headers={"X-Device-Token": device})

    assert again.headers["X-Device-Token"] == device


def test_two_devices_have_two_budgets(api, device):
    assert log_in(api).headers["X-Device-Token"] != device


def test_the_device_of_another_account_gives_nothing(api, used_up):
    make_user("ben@example.com")
    other = log_in(api, email="ben@example.com").headers["X-Device-Token"]
    used_up()

    assert log_in(api, headers={"X-Device-Token": other}).error == SHUT


def test_another_account_in_the_token_gives_nothing(api, device, used_up):
    used_up()
    text = crypto.unsign("device", device)
    for forged in (f"{text}0", text.partition(":")[0] + ":", "0" * 32 + ":1"):
        unsigned = crypto.b64(forged.encode()) + "." + device.partition(".")[2]
        assert log_in(api, headers={"X-Device-Token": unsigned}).error == SHUT


def test_a_token_signed_for_another_purpose_gives_nothing(api, device, used_up):
    used_up()
    forged = crypto.sign("another", crypto.unsign("device", device))

    assert log_in(api, headers={"X-Device-Token": forged}).error == SHUT


@pytest.mark.parametrize(
    "spoil",
    [
        lambda token: token[:-2],
        lambda token: token + "=",
        lambda token: "." + token,
        lambda token: token.swapcase(),
        lambda token: token.partition(".")[0],
        lambda token: "nonsense",
        lambda token: ".",
    ],
)
def test_a_tampered_token_gives_nothing(api, device, used_up, spoil):
    used_up()

    assert log_in(api, headers={"X-Device-Token": spoil(device)}).error == SHUT


def test_a_device_token_opens_nothing_by_itself(api, device):
    assert api.get("me", token=device).error == (401, "INVALID_TOKEN")


def test_a_failure_hands_out_no_device(guess):
    answer = guess()

    assert "X-Device-Token" not in answer.headers
    assert not answer.response.cookies


def test_a_signup_hands_one_out(api, used_up):
    answer = api.post("signup", email="cid@example.com", password=PASSWORD)
    used_up(email="cid@example.com")

    token = answer.headers["X-Device-Token"]
    assert api.log_in("cid@example.com", headers={"X-Device-Token": token})


def test_unlocking_a_user_unlocks_their_devices(api, device):
    headers = {"X-Device-Token": device}
    for _ in range(11):
        api.post("login", email="ann@example.com", password="wrong", headers=headers)
    assert log_in(api, headers=headers).error == SHUT

    lockout.unlock([lookup.get_person(the_user())])

    assert log_in(api, headers=headers).status == 200


def test_device_token_longer_than_any_of_ours_is_not_read(rf):
    sent = {length: rf.get("/", HTTP_X_DEVICE_TOKEN="x" * length) for length in (1024, 1025)}

    read = {length: bool(client(request, "r").device_token) for length, request in sent.items()}

    assert read == {1024: True, 1025: False}
