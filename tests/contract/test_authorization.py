"""The Authorization header: read by protected routes, ignored by public ones; never a 5xx."""

import re

import pytest
from django.core.cache import caches

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
CODES = {
    **dict.fromkeys(NO_TOKEN, "UNAUTHORIZED"),
    **dict.fromkeys(INVALID_TOKENS, "INVALID_TOKEN"),
}


@pytest.fixture
def send(robust):
    """`send(route, header)`: the response to a request with this Authorization header; without a
    header if it is None."""

    def send(route, header=None):
        caches["default"].clear()  # the requests are not what a limit is about
        headers = {} if header is None else {"Authorization": header}
        return robust.request(route.method, route.path, headers=headers)

    return send


# Each of these walks all headers on one route: a test of its own for each took ten times as long.
@pytest.mark.parametrize("route", protected(), ids=str)
def test_request_without_a_valid_bearer_token_is_refused(send, route):
    answers = {header: send(route, header) for header in CODES}

    assert [
        ascii(header[:20])
        for header, answer in answers.items()
        if not is_refusal(answer, 401, CODES[header])
        or answer.headers["WWW-Authenticate"] != "Bearer"
    ] == []


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
@pytest.mark.parametrize("space", [" ", "  "])
def test_bearer_scheme_ignores_case_and_extra_spaces(robust, scheme, space):
    token = robust.sign_up()["access_token"]

    answer = robust.get("me", headers={"Authorization": f"{scheme}{space}{token}"})

    assert answer.status == 200


@pytest.mark.parametrize("route", public(), ids=str)
def test_public_route_ignores_authorization_header(send, route):
    without = send(route)
    expected = (without.status, _fixed(without))
    answers = {header: send(route, header) for header in CODES}

    assert [
        ascii(header[:20])
        for header, answer in answers.items()
        if (answer.status, _fixed(answer)) != expected
    ] == []


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
