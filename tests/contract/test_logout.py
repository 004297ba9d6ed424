"""POST /logout."""

import pytest

from tests.contract.shapes import fits, is_refusal

pytestmark = pytest.mark.django_db


def test_a_success_is_200_with_a_message(api):
    answer = api.post("logout", token=api.sign_up()["access_token"])

    assert answer.status == 200
    assert fits(answer.body, {"data": {"message": str}})


def test_no_body_is_needed(api):
    token = api.sign_up()["access_token"]

    assert api.request("POST", "logout", token=token, content_type="").status == 200


def test_no_token_is_unauthorized(api):
    assert is_refusal(api.post("logout"), 401, "UNAUTHORIZED")


def test_a_second_time_is_invalid_token(api):
    token = api.sign_up()["access_token"]
    api.post("logout", token=token)

    assert is_refusal(api.post("logout", token=token), 401, "INVALID_TOKEN")


def test_401_names_the_scheme(api):
    assert api.post("logout").headers["WWW-Authenticate"] == "Bearer"
