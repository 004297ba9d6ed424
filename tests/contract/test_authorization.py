"""The Authorization header: read by protected routes, ignored by public ones; never a 5xx."""

import re

import pytest

from tests.contract.shapes import is_refusal
from tests.support.client import PASSWORD
from tests.support.routes import protected, public

pytestmark = pytest.mark.django_db

NO_TOKEN = ("", " ", "Bearer", "Bearer ", "Bearer   ", "Basic YTpi", "Token abc", "abc", ",", "=")
INVALID_TOKENS = (
    "Bearer a",
    "Bearer a,b",
    "Bearer a b",
    "Bearer .",
    "Bearer ..",
    "Bearer ...",
    "Bearer a.b.c",
    "Bearer a.b.c.d.e",
    "Bearer e30.e30.e30",
    "Bearer \xff\xfe",
    "Bearer \u00e4.\u00e4.\u00e4",
    "Bearer =",
    "Bearer null",
    "bearer undefined",
    "BEARER a",
    "Bearer " + "a" * 8193,
    "Bearer " + "a." * 50_000,
)
PROTECTED = protected()


@pytest.mark.parametrize("header", NO_TOKEN)
@pytest.mark.parametrize("route", PROTECTED, ids=str)
def test_request_without_bearer_token_is_unauthorized(robust, route, header):
    answer = robust.request(route.method, route.path, headers={"Authorization": header})

    assert is_refusal(answer, 401, "UNAUTHORIZED")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("header", INVALID_TOKENS, ids=lambda text: ascii(text[:20]))
@pytest.mark.parametrize("route", PROTECTED, ids=str)
def test_bearer_token_of_unknown_format_is_invalid_token(robust, route, header):
    answer = robust.request(route.method, route.path, headers={"Authorization": header})

    assert is_refusal(answer, 401, "INVALID_TOKEN")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
@pytest.mark.parametrize("space", [" ", "  "])
def test_bearer_scheme_ignores_case_and_extra_spaces(robust, scheme, space):
    token = robust.sign_up()["access_token"]

    answer = robust.get("me", headers={"Authorization": f"{scheme}{space}{token}"})

    assert answer.status == 200


@pytest.mark.parametrize("header", NO_TOKEN + INVALID_TOKENS, ids=lambda text: ascii(text[:20]))
@pytest.mark.parametrize("route", public(), ids=str)
def test_public_route_ignores_authorization_header(robust, route, header):
    without = robust.request(route.method, route.path)
    answer = robust.request(route.method, route.path, headers={"Authorization": header})

    assert (answer.status, _fixed(answer)) == (without.status, _fixed(without))


def _fixed(answer):
    """The body without its values that are new ones in each response."""
    values = rb'"(nonce|challenge|request_token)":"[^"]+"'
    return re.sub(values, b"", answer.response.content)


def test_access_token_in_query_string_is_ignored(robust):
    token = robust.sign_up()["access_token"]

    assert robust.get(f"me?access_token={token}").error == (401, "UNAUTHORIZED")


def test_access_token_in_unknown_cookie_is_ignored(robust):
    token = robust.sign_up()["access_token"]

    answer = robust.get("me", headers={"Cookie": f"access_token={token}"})

    assert answer.error == (401, "UNAUTHORIZED")


@pytest.mark.parametrize("header", ["Bearer nonsense", "Basic YTpi"])
def test_login_with_invalid_authorization_header_succeeds(robust, header):
    robust.sign_up()
    body = {"email": "ann@example.com", "password": PASSWORD}

    answer = robust.request("POST", "login", body, headers={"Authorization": header})

    assert answer.status == 200


@pytest.mark.parametrize("header", ["Token {}", "JWT {}", "Basic {}", "{}", "Bearer", "Bearer "])
def test_other_scheme_is_refused_with_the_scheme_to_use(api, header):
    token = api.sign_up()["access_token"]

    answer = api.get("me", headers={"Authorization": header.format(token)})

    assert answer.error == (401, "UNAUTHORIZED")
    assert "'Bearer'" in answer.body["message"]


def test_request_without_credentials_says_that_they_are_missing(api):
    assert api.get("me").body["message"] == "Authentication is required."
