"""GET /me."""

import pytest

from tests.contract.shapes import USER, fits, is_refusal
from tests.support.people import the_user

pytestmark = pytest.mark.django_db


def test_me_is_200_with_exactly_the_user(api):
    answer = api.get("me", token=api.sign_up()["access_token"])

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert fits(answer.data, USER)


def test_me_is_the_user_of_the_login(api):
    signed_up = api.sign_up()

    assert api.get("me", token=signed_up["access_token"]).data == signed_up["user"]


def test_me_id_is_the_primary_key_as_a_string(api):
    signed_up = api.sign_up()

    assert api.get("me", token=signed_up["access_token"]).data["id"] == str(the_user().pk)


def test_me_answers_head_request(api):
    assert api.request("HEAD", "me", token=api.sign_up()["access_token"]).status == 200


@pytest.mark.parametrize("zone", ["Asia/Kathmandu", "America/St_Johns"])
def test_timestamps_are_utc_in_any_time_zone_of_the_host(api, settings, clock, zone):
    settings.TIME_ZONE = zone

    assert api.sign_up()["user"]["created_at"] == "2030-01-01T12:00:00.000000Z"


def test_me_without_token_is_unauthorized(api):
    answer = api.get("me")

    assert is_refusal(answer, 401, "UNAUTHORIZED")


def test_me_with_expired_token_is_token_expired(api, clock):
    token = api.sign_up()["access_token"]
    clock.forward(minutes=15)

    assert is_refusal(api.get("me", token=token), 401, "TOKEN_EXPIRED")


def test_me_with_invalid_token_is_invalid_token(api):
    assert is_refusal(api.get("me", token="nonsense"), 401, "INVALID_TOKEN")


def test_me_401_names_the_bearer_scheme(api):
    assert {
        api.get("me", token=token).headers["WWW-Authenticate"] for token in ("", "nonsense")
    } == {"Bearer"}


def test_me_response_is_not_cacheable(api):
    answer = api.get("me", token=api.sign_up()["access_token"])

    assert answer.headers["Cache-Control"] == "no-store, private"
