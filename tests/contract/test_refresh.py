"""POST /refresh."""

import pytest

from tests.contract.shapes import REFRESHED, fits, is_refusal

pytestmark = pytest.mark.django_db


def test_refresh_is_200_with_tokens_and_no_user(api):
    answer = api.post("refresh", refresh_token=api.sign_up()["refresh_token"])

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert fits(answer.data, REFRESHED)


def test_refresh_expires_in_is_fifteen_minutes(api):
    answer = api.post("refresh", refresh_token=api.sign_up()["refresh_token"])

    assert answer.data["expires_in"] == 900


@pytest.mark.parametrize("token", ["nonsense", "=", "a.b.c", "A" * 512])
def test_refresh_with_unknown_format_is_invalid_refresh_token(api, token):
    answer = api.post("refresh", refresh_token=token)

    assert is_refusal(answer, 401, "INVALID_REFRESH_TOKEN")


def test_refresh_with_used_token_is_invalid_refresh_token(api):
    token = api.sign_up()["refresh_token"]
    api.post("refresh", refresh_token=token)

    assert is_refusal(api.post("refresh", refresh_token=token), 401, "INVALID_REFRESH_TOKEN")


def test_refresh_401_names_the_bearer_scheme(api):
    assert api.post("refresh", refresh_token="x").headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "refresh_token: This field is required."),
        ({"refresh_token": ""}, "refresh_token: This field may not be blank."),
        ({"refresh_token": None}, "refresh_token: This field may not be null."),
        ({"refresh_token": 7}, "refresh_token: Must be a string."),
        (
            {"refresh_token": "A" * 4097},
            "refresh_token: Ensure this field has no more than 4096 characters.",
        ),
    ],
)
def test_refresh_validation_error_names_field_and_rule(api, body, message):
    answer = api.post("refresh", **body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == message


def test_refresh_response_is_not_cacheable(api):
    answer = api.post("refresh", refresh_token=api.sign_up()["refresh_token"])

    assert answer.headers["Cache-Control"] == "no-store, private"
