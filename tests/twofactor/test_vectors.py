"""The test vectors of RFC 4226 (appendix D) and RFC 6238 (appendix B, SHA-1), in six digits."""

import base64
from datetime import UTC, datetime

import pyotp
import pytest

from authservice.kernel.secret import Secret
from authservice.twofactor import authenticators
from tests.twofactor.people import other_than

SECRET = base64.b32encode(b"12345678901234567890").decode()
HOTP = ["755224", "287082", "359152", "969429", "338314"]
HOTP += ["254676", "287922", "162583", "399871", "520489"]
# A six-digit code is the last six of the eight digits: the number modulo a power of ten.
TOTP = {
    59: "94287082",
    1111111109: "07081804",
    1111111111: "14050471",
    1234567890: "89005924",
    2000000000: "69279037",
    20000000000: "65353130",
}


@pytest.fixture
def at(time_machine):
    return lambda seconds: time_machine.move_to(datetime.fromtimestamp(seconds, UTC), tick=False)


@pytest.mark.parametrize("counter", range(10))
def test_hotp_code_is_accepted_for_its_counter(at, counter):
    at(max(counter, 1) * 30)  # the window of counter 0 would begin before the epoch

    assert authenticators.matching_step(Secret(HOTP[counter]), Secret(SECRET), after=-1) == counter


@pytest.mark.parametrize("seconds", TOTP)
def test_totp_code_is_accepted_at_its_time(at, seconds):
    at(seconds)

    assert (
        authenticators.matching_step(Secret(TOTP[seconds][-6:]), Secret(SECRET), after=0)
        == seconds // 30
    )


def test_other_code_is_refused(at):
    at(59)
    right = [pyotp.TOTP(SECRET).at(59 + 30 * ahead) for ahead in (-1, 0, 1)]

    assert authenticators.matching_step(Secret(other_than(*right)), Secret(SECRET), after=0) is None


@pytest.mark.parametrize(
    ("ahead", "accepted"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)]
)
def test_window_is_one_step_in_both_directions(at, ahead, accepted):
    at(1111111111)
    code = pyotp.TOTP(SECRET).at(1111111111 + 30 * ahead)

    step = authenticators.matching_step(Secret(code), Secret(SECRET), after=0)

    assert step == (1111111111 // 30 + ahead if accepted else None)


def test_code_of_the_next_step_does_not_move_the_window(at):
    at(1111111111)
    authenticators.matching_step(
        Secret(pyotp.TOTP(SECRET).at(1111111111 + 30)), Secret(SECRET), after=0
    )

    assert (
        authenticators.matching_step(
            Secret(pyotp.TOTP(SECRET).at(1111111111 + 60)), Secret(SECRET), after=0
        )
        is None
    )
    assert authenticators.matching_step(
        Secret(pyotp.TOTP(SECRET).at(1111111111)), Secret(SECRET), after=0
    )


def test_code_of_a_used_step_is_refused(at):
    at(59)

    assert authenticators.matching_step(Secret("287082"), Secret(SECRET), after=1) is None


def test_secret_has_160_bits():
    secrets = {authenticators.new_secret().reveal() for _ in range(50)}

    assert len(secrets) == 50
    assert {len(base64.b32decode(secret)) for secret in secrets} == {20}


@pytest.mark.parametrize(
    ("issuer", "account"),
    [("Shop", "ann@example.com"), ("Ann & Bob's 100%?", "a+b/c d@exämple.com"), ("店", "ann:x")],
)
def test_uri_round_trips_secret_issuer_and_account(issuer, account):
    read = pyotp.parse_uri(
        authenticators.uri(Secret(SECRET), issuer=issuer, account=account).reveal()
    )

    assert (read.secret, read.issuer, read.name) == (SECRET, issuer, account)
    assert (read.digits, read.interval) == (6, 30)
