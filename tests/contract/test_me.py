"""GET /me."""

import pytest

from tests.contract.shapes import USER, fits, is_refusal
from tests.people import the_user

pytestmark = pytest.mark.django_db


def test_a_success_is_200_with_exactly_the_user(api):
    answer = api.get("me", token=api.sign_up()["access_token"])

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert fits(answer.data, USER)


def test_it_is_the_user_of_the_login(api):
    signed_up = api.sign_up()

    assert api.get("me", token=signed_up["access_token"]).data == signed_up["user"]


def test_the_id_is_the_primary_key_as_a_string(api):
    signed_up = api.sign_up()

    assert api.get("me", token=signed_up["access_token"]).data["id"] == str(the_user().pk)


def test_a_head_request_is_answered(api):
    assert api.request("HEAD", "me", token=api.sign_up()["access_token"]).status == 200


@pytest.mark.parametrize("zone", ["Asia/Kathmandu", "America/St_Johns"])
def test_moments_are_utc_whatever_the_hosts_time_zone(api, settings, clock, zone):
    settings.TIME_ZONE = zone

    assert api.sign_up()["user"]["created_at"] == "2030-01-01T12:00:00.000000Z"


def test_no_token_is_unauthorized(api):
    answer = api.get("me")

    assert is_refusal(answer, 401, "UNAUTHORIZED")


def test_an_expired_token_is_token_expired(api, clock):
    token = api.sign_up()["access_token"]
    clock.forward(minutes=15)

    assert is_refusal(api.get("me", token=token), 401, "TOKEN_EXPIRED")


def test_a_token_that_is_none_is_invalid_token(api):
    assert is_refusal(api.get("me", token="nonsense"), 401, "INVALID_TOKEN")


def test_401_names_the_scheme(api):
    assert {
        api.get("me", token=token).headers["WWW-Authenticate"] for token in ("", "nonsense")
    } == {"Bearer"}


def test_personal_data_are_not_to_be_cached(api):
    answer = api.get("me", token=api.sign_up()["access_token"])

    assert answer.headers["Cache-Control"] == "no-store"
