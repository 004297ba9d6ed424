"""A device with an earlier login has its own attempts, which unknown clients cannot use up."""

from uuid import uuid4

import pytest
from django.db.models import F

from authservice.core.credentials import lockout
from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.kernel import secret
from authservice.kernel.client import DeviceToken
from authservice.kernel.http.incoming import client
from authservice.kernel.secret import Secret
from tests.support.client import PASSWORD
from tests.support.people import make_user, the_user

pytestmark = pytest.mark.django_db

WRONG = (401, "INVALID_CREDENTIALS")
LOCKED = (429, "TOO_MANY_ATTEMPTS")


@pytest.fixture(autouse=True)
def _ann(api, clock):
    api.sign_up(username="ann")


@pytest.fixture
def attempt(api):
    """A login with a wrong password, by default at the first user's address."""

    def attempt(email="ann@example.com"):
        return api.post("login", email=email, password="wrong")

    return attempt


@pytest.fixture
def used_up(attempt):
    """Unknown clients use up the attempts at an address."""

    def used_up(email="ann@example.com"):
        for _ in range(10):
            attempt(email)
        assert attempt(email).error == LOCKED

    return used_up


def log_in(api, **more):
    return api.post("login", **{"email": "ann@example.com", "password": PASSWORD, **more})


@pytest.fixture
def device(api):
    return log_in(api).headers["X-Device-Token"]


def test_known_device_logs_in_while_unknown_clients_are_locked_out(api, device, used_up):
    used_up()

    assert log_in(api).error == LOCKED
    assert api.log_in(headers={"X-Device-Token": device})


def test_known_device_cookie_logs_in_while_unknown_clients_are_locked_out(api, device, used_up):
    used_up()

    assert api.log_in(headers={"Cookie": f"authservice_device={device}"})


def test_known_device_has_ten_attempts_at_a_password(api, device):
    errors = [
        api.post(
            "login",
            email="ann@example.com",
            password="wrong",
            headers={"X-Device-Token": device},
        ).error
        for _ in range(11)
    ]

    assert errors == [WRONG] * 10 + [LOCKED]


def test_known_device_failures_do_not_count_for_unknown_clients(api, device, attempt):
    for _ in range(10):
        api.post(
            "login",
            email="ann@example.com",
            password="wrong",
            headers={"X-Device-Token": device},
        )

    assert attempt().error == WRONG


def test_known_device_keeps_its_token_at_another_login(api, device):
    again = log_in(api, headers={"X-Device-Token": device})

    assert again.headers["X-Device-Token"] == device


def test_two_devices_have_different_tokens(api, device):
    assert log_in(api).headers["X-Device-Token"] != device


def test_known_device_of_another_account_has_no_own_attempts(api, used_up):
    make_user("ben@example.com")
    other = log_in(api, email="ben@example.com").headers["X-Device-Token"]
    used_up()

    assert log_in(api, headers={"X-Device-Token": other}).error == LOCKED


def test_device_token_with_any_changed_character_is_not_read(device):
    assert DeviceToken.read(Secret(device))

    for n, character in enumerate(device):
        changed = device[:n] + ("A" if character != "A" else "B") + device[n + 1 :]
        assert DeviceToken.read(Secret(changed)) is None, changed


def test_device_token_longer_than_a_cookie_is_not_read():
    assert DeviceToken.read(DeviceToken.issue(uuid4(), version=1, user="1" * 1000))
    assert DeviceToken.read(DeviceToken.issue(uuid4(), version=1, user="1" * 4000)) is None


def test_device_token_signed_for_another_purpose_has_no_own_attempts(api, device, used_up):
    used_up()
    values = secret.signer("device").unsign_object(device)
    forged = secret.signer("another").sign_object(values)

    assert log_in(api, headers={"X-Device-Token": forged}).error == LOCKED


@pytest.mark.parametrize(
    "tamper",
    [
        lambda token: token[:-2],
        lambda token: token + "=",
        lambda token: ":" + token,
        lambda token: "." + token,
        lambda token: token.swapcase(),
        lambda token: token.partition(":")[0],
        lambda token: "nonsense",
        lambda token: ":",
    ],
)
def test_device_token_that_was_tampered_with_has_no_own_attempts(api, device, used_up, tamper):
    used_up()

    assert log_in(api, headers={"X-Device-Token": tamper(device)}).error == LOCKED


def test_device_token_is_refused_as_bearer_token(api, device):
    assert api.get("me", token=device).error == (401, "INVALID_TOKEN")


def test_failed_login_issues_no_device_token(attempt):
    answer = attempt()

    assert "X-Device-Token" not in answer.headers
    assert not answer.response.cookies


def test_signup_issues_a_device_token(api, used_up):
    answer = api.post("signup", email="cid@example.com", password=PASSWORD)
    used_up(email="cid@example.com")

    token = answer.headers["X-Device-Token"]
    assert api.log_in("cid@example.com", headers={"X-Device-Token": token})


def test_unlocking_a_user_unlocks_their_known_devices(api, device):
    headers = {"X-Device-Token": device}
    for _ in range(11):
        api.post("login", email="ann@example.com", password="wrong", headers=headers)
    assert log_in(api, headers=headers).error == LOCKED

    lockout.unlock([lookup.get_person(the_user())])

    assert log_in(api, headers=headers).status == 200


def test_device_of_a_login_that_read_the_account_before_a_factor_was_enabled_is_not_added():
    """An attacker with the password could otherwise register devices with attempts of their own."""
    person = lookup.get_person(the_user())
    Account.objects.update(factor_version=F("factor_version") + 1)

    assert lockout.device_addition(person, uuid4()).run() == 0
    assert lockout.device_addition(lookup.get_person(the_user()), uuid4()).run() == 1


def test_device_token_longer_than_any_issued_is_not_read(rf):
    sent = {length: rf.get("/", HTTP_X_DEVICE_TOKEN="x" * length) for length in (1024, 1025)}

    read = {length: bool(client(request, "r").device_token) for length, request in sent.items()}

    assert read == {1024: True, 1025: False}
