"""POST /logout."""

import pytest

from tests.contract.shapes import fits, is_refusal

pytestmark = pytest.mark.django_db


def test_logout_is_200_with_a_message(api):
    answer = api.post("logout", token=api.sign_up()["access_token"])

    assert answer.status == 200
    assert fits(answer.body, {"data": {"message": str}})


def test_logout_requires_no_body(api):
    token = api.sign_up()["access_token"]

    assert api.request("POST", "logout", token=token, content_type="").status == 200


def test_logout_without_token_is_unauthorized(api):
    assert is_refusal(api.post("logout"), 401, "UNAUTHORIZED")


def test_second_logout_is_invalid_token(api):
    token = api.sign_up()["access_token"]
    api.post("logout", token=token)

    assert is_refusal(api.post("logout", token=token), 401, "INVALID_TOKEN")


def test_logout_401_names_the_bearer_scheme(api):
    assert api.post("logout").headers["WWW-Authenticate"] == "Bearer"
