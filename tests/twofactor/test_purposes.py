"""A secret is valid for one purpose only: temp_tokens, tokens and links are not interchangeable."""

import pytest

from authservice.core.credentials import one_time
from authservice.core.users import lookup
from tests.support.people import the_user
from tests.twofactor.people import ANN

pytestmark = pytest.mark.django_db
NO_TOKEN = (401, "INVALID_TOKEN")


@pytest.fixture
def temp_token(enrolled):
    return enrolled.temp_token()


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "me"), ("PUT", "profile"), ("POST", "logout"), ("POST", "2fa/disable")],
)
def test_temp_token_is_refused_as_access_token(api, temp_token, method, path):
    assert api.request(method, path, token=temp_token).error == NO_TOKEN


def test_temp_token_is_refused_as_refresh_token(api, temp_token):
    answer = api.post("refresh", refresh_token=temp_token)

    assert answer.error == (401, "INVALID_REFRESH_TOKEN")


def test_temp_token_does_not_reset_a_password(api, temp_token):
    body = {"token": temp_token, "email": ANN, "new_password": "another plum tart 42"}

    assert api.request("POST", "reset-password", body).error == (400, "INVALID_TOKEN")


def test_temp_token_does_not_verify_an_address(api, temp_token):
    answer = api.get(f"verify-email?token={temp_token}&email={ANN}")

    assert answer.error == (400, "INVALID_VERIFICATION_TOKEN")


def test_temp_token_refused_elsewhere_is_still_valid(api, enrolled, temp_token):
    api.get("me", token=temp_token)
    api.post("refresh", refresh_token=temp_token)

    assert enrolled.verify_login(enrolled.code(), temp_token).status == 200


@pytest.mark.parametrize("purpose", [one_time.RESET, one_time.VERIFY_EMAIL])
def test_mailed_link_is_refused_as_temp_token(enrolled, purpose):
    person = lookup.get_person(the_user())
    link = one_time.issue_link(purpose, person, person.email_key)

    assert enrolled.verify_login(enrolled.code(), link).error == NO_TOKEN


@pytest.mark.parametrize("name", ["access_token", "refresh_token"])
def test_access_or_refresh_token_is_refused_as_temp_token(api, enrolled, name):
    tokens = enrolled.verify_login(enrolled.code()).data

    answer = enrolled.verify_login(enrolled.code(1), tokens[name])

    assert answer.status in (400, 401)
    assert answer.code in ("INVALID_TOKEN", "VALIDATION_ERROR")


def test_device_token_is_refused_as_temp_token(enrolled):
    device = enrolled.verify_login(enrolled.code()).headers["X-Device-Token"]

    assert enrolled.verify_login(enrolled.code(1), device).error == NO_TOKEN
